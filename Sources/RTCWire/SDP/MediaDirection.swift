/// The direction of media, from the view of the describing side (RFC 8866 §6.7).
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
  /// The direction from the other side's view.
  public var reversed: MediaDirection { MediaDirection(sends: receives, receives: sends) }

  /// The directions that both allow.
  public func intersection(_ other: MediaDirection) -> MediaDirection {
    MediaDirection(sends: sends && other.sends, receives: receives && other.receives)
  }
}
