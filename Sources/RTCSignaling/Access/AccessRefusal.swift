/// Why somebody is not let in.
package enum AccessRefusal: Error, Sendable, Hashable {
  /// Nothing was shown.
  case missing
  /// What was shown is neither the secret nor signed with it.
  case wrong
  /// The same, after too much that was wrong came from this address; so many seconds until a wrong try is the first again. A guess
  /// at a short secret may not have been looked at.
  case slowed(seconds: Int)
  /// The link ended so many seconds ago.
  case expired(seconds: Int64)
  /// The link was signed so many seconds from now: one of the two clocks is wrong.
  case clock(seconds: Int64)
  /// As many have used the link as may.
  case usedUp
  /// Its owner has taken the link back.
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
    }
  }

  /// As programs read it at the hub.
  package var code: String {
    switch self {
    case .missing, .wrong: "bad-token"
    case .slowed: "too-many-tries"
    case .expired: "link-expired"
    case .clock: "link-too-early"
    case .usedUp: "link-used-up"
    case .revoked: "link-revoked"
    case .otherRight, .otherName, .otherStream: "link-for-other"
    }
  }

  /// What is wrong, and what to do.
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
