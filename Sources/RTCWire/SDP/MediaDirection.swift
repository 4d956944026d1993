/// Which way media flows, as seen by the side whose description says it (RFC 8866 §6.7).
public enum MediaDirection: String, Hashable, Sendable {
  case sendrecv, sendonly, recvonly, inactive

  /// The direction of a side that sends, receives, does both or neither.
  public init(sends: Bool, receives: Bool) {
    self = sends ? (receives ? .sendrecv : .sendonly) : (receives ? .recvonly : .inactive)
  }

  /// True when the side that says it sends.
  public var sends: Bool { self == .sendrecv || self == .sendonly }
  /// True when the side that says it receives.
  public var receives: Bool { self == .sendrecv || self == .recvonly }
  /// The same flow as seen from the other side.
  public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

  /// What both allow.
  public func intersection(_ other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}
