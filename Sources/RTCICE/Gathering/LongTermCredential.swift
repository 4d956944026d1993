import RTCPrimitives
import RTCWire

/// A user name and password for a server, and the server's authentication challenge (RFC 8489 §9.2).
struct LongTermCredential {
  /// The values that authenticate a request.
  struct Challenge {
    let realm: [UInt8]
    let nonce: [UInt8]
    let key: STUNIntegrityKey
  }

  enum Outcome {
    /// Send the same request again, with the new challenge.
    case again
    case failed(ICEServerFailure)
  }

  /// The number of consecutive refusals before the server is given up: a nonce may have expired just now, and its
  /// successor too, but not repeatedly.
  private static let maximumRefusals = 4
  /// The number of consecutive 401 responses with new nonces, which restarted servers send, and others send for a wrong
  /// password.
  private static let maximumRejections = 2

  let username: [UInt8]
  private let password: [UInt8]
  /// Nil until the server has asked for credentials.
  private(set) var challenge: Challenge?
  /// Counts the challenges.
  private(set) var serial = 0
  private var refusals = 0
  private var rejections = 0
  /// The server has accepted them at least once.
  private(set) var wereAccepted = false

  init(username: String, password: String) {
    self.username = Array(username.utf8)
    self.password = Array(password.utf8)
  }

  /// A response was authentic.
  mutating func accepted() {
    refusals = 0
    rejections = 0
    wereAccepted = true
  }

  /// Forgets the challenge, because another server is asked.
  mutating func forgetChallenge() {
    challenge = nil
    refusals = 0
    rejections = 0
  }

  /// The server answered 401 or 438 (RFC 8489 §9.2.5).
  mutating func challenged(by message: STUNMessage, to request: ServerTransaction) -> Outcome {
    // Several requests were under way with the old nonce.
    if request.isAuthenticated, request.challenge != serial { return .again }
    guard !username.isEmpty else { return .failed(.credentialsMissing) }
    guard let nonce = Self.copy(message.nonce) else {
      return .failed(.malformedAnswer(missing: "a nonce"))
    }
    guard let realm = Self.copy(message.realm) ?? challenge?.realm else {
      return .failed(.malformedAnswer(missing: "a realm"))
    }
    if let challenge, challenge.realm != realm { return .failed(.realmChanged) }
    refusals += 1
    if message.errorCode == .unauthenticated, request.isAuthenticated {
      rejections += 1
      guard nonce != challenge?.nonce, rejections < Self.maximumRejections else {
        return .failed(wereAccepted ? .credentialsExpired : .unauthorized)
      }
    }
    guard refusals <= Self.maximumRefusals else {
      // A later attempt rightly begins with a stale nonce.
      refusals = 0
      return .failed(.staleNonces)
    }
    let key =
      challenge?.key
      ?? STUNIntegrityKey(username: username.span, realm: realm.span, password: password.span)
    challenge = Challenge(realm: realm, nonce: nonce, key: key)
    serial += 1
    return .again
  }

  private static func copy(_ text: Span<UInt8>?) -> [UInt8]? {
    guard let text else { return nil }
    return [UInt8](copying: text)
  }
}
