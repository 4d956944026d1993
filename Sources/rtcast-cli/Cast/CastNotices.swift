import RTCEngine
import RTCNet
import RTCPrimitives
import RTCast

/// Recent problems, for the status line.
struct CastNotices {
  private static let failureTime = TimeDelta.seconds(30)

  private var stall: String?
  private var failure: (text: String, until: Timestamp)?
  /// The viewer that was diagnosed last.
  private var delayed: (id: String, cause: String)?

  mutating func note(_ event: BroadcastEvent, now: Timestamp) {
    switch event {
    case .sourceStalled(let sentence): stall = sentence
    case .sourceResumed: stall = nil
    case .viewerDelayed(let id, let address, let cause, _):
      delayed = (id, cause)
      failure = ("\(address) cannot connect: \(cause)", now + Self.failureTime)
    case .viewerFailed(let id, let address, _):
      let cause = delayed?.id == id ? delayed.map { ": \($0.cause)" } ?? "" : ""
      failure = ("\(address) could not connect\(cause)", now + Self.failureTime)
    case .viewerJoined: (failure, delayed) = (nil, nil)
    default: break
    }
  }

  /// Nil: nothing.
  func text(now: Timestamp) -> String? {
    if let stall { return stall }
    guard let failure, now < failure.until else { return nil }
    return failure.text
  }
}

extension EndReason {
  /// Why a viewer that asked from `address` has no connection.
  func failureSentence(of address: String) -> String {
    switch self {
    case .unreachable(let tried): "A viewer at \(address) could not connect: \(tried)."
    case .timedOut:
      "A viewer at \(address) could not connect: nothing came from it. Does a firewall block UDP? See `rtcast doctor --ice`."
    case .fingerprintMismatch: "A viewer at \(address) could not connect: its certificate does not match its offer."
    case .handshakeFailed(let why): "A viewer at \(address) could not connect: the DTLS handshake failed: \(why)"
    case .tooCostly: "A viewer at \(address) could not connect: its packets took more than its share of the processor."
    case .closedLocally, .closedRemotely: "A viewer at \(address) did not connect."
    }
  }
}
