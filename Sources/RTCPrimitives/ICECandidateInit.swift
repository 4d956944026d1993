/// One candidate as signaling carries it: W3C's `RTCIceCandidateInit`.
public struct ICECandidateInit: Hashable, Sendable {
  /// `candidate:…`; empty: there are no more.
  public var candidate: String
  public var sdpMid: String?
  public var sdpMLineIndex: Int?
  /// Of the description it belongs to; nil: of the current one.
  public var usernameFragment: String?

  public init(
    candidate: String, sdpMid: String? = nil, sdpMLineIndex: Int? = nil, usernameFragment: String? = nil
  ) {
    self.candidate = candidate
    self.sdpMid = sdpMid
    self.sdpMLineIndex = sdpMLineIndex
    self.usernameFragment = usernameFragment
  }
}
