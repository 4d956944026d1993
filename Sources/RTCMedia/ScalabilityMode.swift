/// How a stream can be had in parts (W3C Scalable Video Coding).
public enum ScalabilityMode: String, Hashable, Sendable, CaseIterable {
  /// One layer: every frame is needed.
  case l1t1 = "L1T1"
  /// Two temporal layers: of a movement every other frame is needed by none, so that a viewer or a forwarding server may do
  /// without.
  case l1t2 = "L1T2"
}
