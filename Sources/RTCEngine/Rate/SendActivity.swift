package import RTCPrimitives

/// The recent and waiting traffic: whether the sender could have used more than it did.
package struct SendActivity: Hashable, Sendable {
  /// Bytes of all packets that left under transport-wide numbers, since the beginning.
  package var sentBytes: UInt64 = 0
  /// The bytes in flight: no feedback has covered them or a later packet.
  package var inFlight = 0
  /// Bytes that wait for the pacer.
  package var queued = 0
  /// When the last packet left.
  package var lastSent = Timestamp.zero

  package init() {}
}
