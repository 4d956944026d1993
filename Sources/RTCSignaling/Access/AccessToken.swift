/// The secret that a request must carry as `Authorization: Bearer …` (RFC 6750 §2.1).
public struct AccessToken: Hashable, Sendable {
  let bytes: [UInt8]

  /// Nil for text that no header can carry: empty, longer than 1,024 bytes, or with blanks, control or non-ASCII
  /// characters.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard (1...1024).contains(bytes.count), bytes.allSatisfy({ (33...126).contains($0) }) else { return nil }
    self.bytes = bytes
  }

  /// A new token that cannot be guessed: 130 random bits in 26 letters and digits.
  public static func fresh() -> AccessToken {
    var generator = SystemRandomNumberGenerator()
    let letters = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    return AccessToken(bytes: (0..<26).map { _ in letters[Int.random(in: 0..<32, using: &generator)] })
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// The credential in an `Authorization` header (RFC 6750 §2.1); nil for another scheme.
  static func shown(in authorization: String?) -> String? {
    guard let authorization else { return nil }
    let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1].drop { $0 == " " })
  }

  /// Whether the value of an `Authorization` header carries this token. Takes as long for a wrong token as for the right
  /// one of the same length.
  public func admits(authorization: String?) -> Bool { Self.shown(in: authorization).map { admits($0) } ?? false }

  /// Whether this is the token. Takes as long for a wrong token as for the right one of the same length.
  public func admits(_ shown: String) -> Bool { Secret.matches(shown, bytes) }

  /// The header's value for a client that has the token.
  public var authorization: String { "Bearer " + text }

  /// Percent-encoded for a URL's query or fragment.
  public var inURL: String { PercentEncoding.encode(text) }

  /// The token as written. For links and headers, never for a log.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension AccessToken: CustomStringConvertible {
  /// Never the secret itself, so that it cannot reach a log by accident.
  public var description: String { "AccessToken(…)" }
}

/// The fragment of a link, after the `#`. Browsers do not send it to servers.
public struct LinkFragment: Sendable, Hashable {
  /// The secret, or a token signed with it.
  public var token: String?

  /// Reads `token=…&…`, or a bare token.
  public init(_ text: some StringProtocol) {
    let pairs = text.split(separator: "&")
    if let pair = pairs.first(where: { $0.hasPrefix("token=") }) {
      token = PercentEncoding.decode(pair.dropFirst(6))
    } else if !text.isEmpty, !text.contains("=") {
      token = PercentEncoding.decode(text)
    }
  }

  /// A name as it stands in an address.
  public static func encoded(_ name: String) -> String { PercentEncoding.encode(name) }

  /// A link without its fragment, and what stood there.
  public static func split(_ link: String) -> (address: String, fragment: LinkFragment) {
    guard let mark = link.firstIndex(of: "#") else { return (link, LinkFragment("")) }
    return (String(link[..<mark]), LinkFragment(link[link.index(after: mark)...]))
  }
}

/// Secrets are compared here and nowhere else.
enum Secret {
  /// Compares a credential with the secret. The time depends on the length of the credential, not on the number of
  /// matching bytes.
  static func matches(_ shown: String, _ secret: [UInt8]) -> Bool {
    guard !secret.isEmpty else { return false }
    var difference = UInt(bitPattern: shown.utf8.count ^ secret.count)
    for (index, byte) in shown.utf8.enumerated() { difference |= UInt(byte ^ secret[index % secret.count]) }
    return difference == 0
  }
}
