/// The reason why a client is not admitted.
package enum AccessRefusal: Error, Sendable, Hashable {
  /// The request has no credential.
  case missing
  /// The credential is neither the secret nor signed with it.
  case wrong
  /// Wrong, after too many wrong credentials from this address. `seconds` is the time until the count is reset. A guess
  /// at a short secret may not have been checked.
  case slowed(seconds: Int)
  /// The link ended so many seconds ago.
  case expired(seconds: Int64)
  /// The link was signed so many seconds from now: one of the two clocks is wrong.
  case clock(seconds: Int64)
  /// The link has no uses left.
  case usedUp
  /// The link has a limited number of uses, and the servers that count them cannot be reached.
  case uncounted
  /// The owner has revoked the link.
  case revoked
  /// The link is for something else.
  case otherRight(AccessRight)
  /// The link is for this name at the hub.
  case otherName(String)
  /// The link is for this stream.
  case otherStream(String)

  /// The HTTP status (RFC 9110 §15.5, RFC 6585 §4).
  package var status: Int {
    switch self {
    case .missing, .wrong, .expired, .clock, .usedUp, .revoked: 401
    case .otherRight, .otherName, .otherStream: 403
    case .slowed: 429
    case .uncounted: 503
    }
  }

  /// The code for programs, as hub errors carry it.
  package var code: String {
    switch self {
    case .missing, .wrong: "bad-token"
    case .slowed: "too-many-tries"
    case .expired: "link-expired"
    case .clock: "link-too-early"
    case .usedUp: "link-used-up"
    case .uncounted: "cluster-unavailable"
    case .revoked: "link-revoked"
    case .otherRight, .otherName, .otherStream: "link-for-other"
    }
  }

  /// A sentence for the user: the reason and the remedy.
  package var sentence: String {
    switch self {
    case .missing: "This needs the token that is part of the link, sent as Authorization: Bearer TOKEN."
    case .wrong: "The token is wrong. Ask the person who sent the link for the current one."
    case .slowed(let seconds):
      "Too many wrong tokens came from your address; try again in \(seconds) s."
    case .expired(let seconds):
      "This link ended \(Self.duration(seconds)) ago, by this server's clock. Ask the person who sent it for another."
    case .clock(let seconds):
      "This link was signed \(Self.duration(seconds)) from now, by this server's clock. Set the clock of the machine that "
        + "signed it, or of this one, and sign it again."
    case .usedUp: "This link has been used as often as allowed. Ask the person who sent it for another."
    case .uncounted:
      "This link can be used a limited number of times, and this server cannot reach the others to count them now. Try "
        + "again in a moment."
    case .revoked: "This link has been revoked. Ask the person who sent it for another."
    case .otherRight(let right): "This link is for \(right.gerund) only. Ask the person who sent it for another."
    case .otherName(let name): "This link is for the name \(name) only."
    case .otherStream(let name): "This link is for the stream \(name) only."
    }
  }

  private static func duration(_ seconds: Int64) -> String {
    func count(_ unit: Int64, _ word: String) -> String {
      let number = max(1, seconds / unit)
      return "\(number) \(word)\(number == 1 ? "" : "s")"
    }
    return switch seconds {
    case ..<120: count(1, "second")
    case ..<7_200: count(60, "minute")
    case ..<172_800: count(3_600, "hour")
    default: count(86_400, "day")
    }
  }
}
