/// One candidate as signaling carries it: W3C's `RTCIceCandidateInit`.
public struct ICECandidateInit: Hashable, Sendable {
  /// `candidate:…`; empty: there are no more.
  public var candidate: String
  /// The mid of the candidate's m-section; nil when it is not said.
  public var sdpMid: String?
  /// The position of the candidate's m-section in the description, counted from 0; nil when it is not said.
  public var sdpMLineIndex: Int?
  /// The user name fragment of its description; nil: the current one.
  public var usernameFragment: String?

  /// Takes all values as they are; nothing is parsed here.
  public init(
    candidate: String, sdpMid: String? = nil, sdpMLineIndex: Int? = nil, usernameFragment: String? = nil
  ) {
    self.candidate = candidate
    self.sdpMid = sdpMid
    self.sdpMLineIndex = sdpMLineIndex
    self.usernameFragment = usernameFragment
  }
}
