package import RTCPrimitives
import RTCWire

/// Why a STUN or TURN server is of no use, at least for now. `description` is a sentence for people.
package enum ICEServerFailure: Error, Hashable, Sendable {
  /// No answer came, however often the request was sent, within this time.
  case noAnswer(after: TimeDelta)
  /// The server asks for credentials, and there are none.
  case credentialsMissing
  /// The server refuses the user name or the credential (401, 441).
  case unauthorized
  /// The server took the credentials once, and refuses them now (401): they have expired.
  case credentialsExpired
  /// The server's rules forbid the request (403); its reason, which may be empty.
  case forbidden(reason: String)
  /// The user has as many allocations as the server allows (486).
  case quotaReached
  /// The server has no more relayed addresses or ports (508).
  case insufficientCapacity
  /// The server keeps an allocation of another session for our address and port (437).
  case allocationMismatch
  /// The allocation is gone: the server has restarted, or has forgotten it (437).
  case allocationLost
  /// Each nonce that the server gave was stale at once (438).
  case staleNonces
  /// The server named one realm first and another one later.
  case realmChanged
  /// All answers were made with another password than ours, or were changed on their way.
  case badIntegrity
  /// The answer lacks something that it must have, named here.
  case malformedAnswer(missing: String)
  /// The server sends us on (300), by a stream that has to be opened to this address first.
  case redirected(to: SocketAddress)
  /// The server sends us on (300) to an address that may not be asked, in a circle, or too often.
  case redirectRefused
  /// Another server of the same address, port and transport is in use already.
  case duplicate
  /// Any other error, with the server's reason, which may be empty.
  case refused(code: UInt16, reason: String)

  /// The failure that an error response means.
  init(_ code: STUNErrorCode, reason: String) {
    switch code {
    case .unauthenticated, .wrongCredentials: self = .unauthorized
    case .forbidden: self = .forbidden(reason: reason)
    case .allocationQuotaReached: self = .quotaReached
    case .insufficientCapacity: self = .insufficientCapacity
    case .allocationMismatch: self = .allocationMismatch
    default: self = .refused(code: code.code, reason: reason)
    }
  }

  /// True when the same may succeed later. Credentials and rules do not change by themselves.
  var mayPass: Bool {
    switch self {
    case .noAnswer, .quotaReached, .insufficientCapacity, .allocationMismatch, .allocationLost, .staleNonces,
      .badIntegrity:
      true
    case .refused(let code, _): code >= 500
    case .credentialsMissing, .unauthorized, .credentialsExpired, .forbidden, .realmChanged, .malformedAnswer,
      .redirected,
      .redirectRefused, .duplicate:
      false
    }
  }
}

extension ICEServerFailure: CustomStringConvertible {
  /// One sentence without the server's name.
  package var description: String {
    switch self {
    case .noAnswer(let time): "It did not answer within \(max(1, time.milliseconds / 1_000)) s."
    case .credentialsMissing: "It asks for a user name and a credential, and none are configured."
    case .unauthorized: "It refuses the user name or the credential (401)."
    case .credentialsExpired: "It no longer accepts the credential (401); it has probably expired."
    case .forbidden(let reason): "Its rules forbid the request (403)\(Self.quoted(reason))."
    case .quotaReached: "The user has as many allocations as it allows (486)."
    case .insufficientCapacity: "It has no more ports or addresses for relaying (508)."
    case .allocationMismatch: "It keeps an earlier allocation for this address and port (437)."
    case .allocationLost: "It has lost the allocation (437); it was probably restarted."
    case .staleNonces: "It rejects each nonce that it has just given (438)."
    case .realmChanged: "It changed its realm from one answer to the next."
    case .badIntegrity: "Its answers are not made with the configured credential, or were changed on their way."
    case .malformedAnswer(let missing): "Its answer lacks \(missing)."
    case .redirected(let address): "It sends clients on to \(address) (300)."
    case .redirectRefused: "It sends clients on to an address that is not to be asked, or in a circle (300)."
    case .duplicate: "The same address and transport are configured twice."
    case .refused(let code, let reason): "It refuses the request with error \(code)\(Self.quoted(reason))."
    }
  }

  private static func quoted(_ reason: String) -> String { reason.isEmpty ? "" : ": “\(reason)”" }
}

extension STUNMessage {
  /// The server's reason, at most 100 printable characters of it.
  var printableErrorReason: String {
    guard let reason = errorReason else { return "" }
    let text = String(decoding: [UInt8](copying: reason.extracting(0..<min(reason.count, 400))), as: UTF8.self)
    return text.foreignText(limit: 100)
  }
}
