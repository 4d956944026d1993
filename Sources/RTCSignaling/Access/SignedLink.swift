import RTCDTLS
import RTCPrimitives

/// A link's permission, signed by the server's owner with the server's secret. Any holder of the secret can verify it;
/// nothing is stored until it is used.
///
/// Its text replaces the secret in a link, in `Authorization: Bearer …` and at a hub:
///
///     rl1.w.1767225600.1767232800.1.q9ZcT2ePk1o.YW5u..MAC
///
/// right, second of signing and of expiry, uses, identifier, name, stream (the last two in base64url, RFC 4648 §5), and
/// HMAC-SHA-256 of the preceding text. An empty field means: no expiry, no limit, no name.
public struct SignedLink: Hashable, Sendable {
  /// The right that the link gives.
  public var right: AccessRight
  /// When it was signed, in seconds since 1970 by the signer's clock.
  public var issued: Int64
  /// The second of its end; nil: none.
  public var expires: Int64?
  /// How many may use it; nil: any number.
  public var uses: Int?
  /// Chosen at random; revoking and counting go by it.
  public var id: String
  /// The name of the link's user. At a hub, a link for calls may take only this name.
  public var name: String?
  /// At a hub: the one stream that it is for.
  public var stream: String?

  /// A link that has not been signed yet.
  /// - Parameter id: of letters, digits, `-` and `_`, such as `freshID` makes.
  public init(
    _ right: AccessRight, issued: Int64, expires: Int64? = nil, uses: Int? = nil, id: String = freshID(),
    name: String? = nil, stream: String? = nil
  ) {
    self.right = right
    self.issued = issued
    self.expires = expires
    self.uses = uses
    self.id = id
    self.name = name
    self.stream = stream
  }

  /// 64 random bits: 11 characters.
  public static func freshID() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<8).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
  }

  /// The identifier in a link's text, without checking the signature; nil if the text is not a link.
  public static func id(of text: String) -> String? { Fields(text)?.link.id }

  /// The text that the owner of `secret` gives away.
  public func signed(with secret: AccessToken) -> String {
    let body = body
    return body + "." + Self.signature(of: body, secret)
  }

  /// Parses and verifies a text; nil if it was signed with another secret, or altered.
  init?(_ text: String, signedWith secret: AccessToken) {
    guard let fields = Fields(text) else { return nil }
    // Compares texts, not bytes: base64 has several texts for the same bytes.
    guard Secret.matches(fields.signature, Array(Self.signature(of: fields.body, secret).utf8)) else { return nil }
    self = fields.link
  }

  private static let version = "rl1"

  private var body: String {
    func number(_ value: Int64?) -> String { value.map { String($0) } ?? "" }
    func encoded(_ text: String?) -> String { text.map { Base64URL.encode(Array($0.utf8)) } ?? "" }
    return [
      Self.version, String(right.letter), String(issued), number(expires), number(uses.map { Int64($0) }), id,
      encoded(name), encoded(stream),
    ].joined(separator: ".")
  }

  private static func signature(of body: String, _ secret: AccessToken) -> String {
    // Named, so that nothing else that is ever authenticated with the secret can be taken for a link.
    let message = Array(("rtcast link\n" + body).utf8)
    // Without memory for it nothing is signed, and nothing admitted: no text is empty.
    guard let digest = try? MessageAuthentication.hmacSHA256(key: secret.bytes, message) else { return "" }
    return Base64URL.encode(digest)
  }

  /// The fields of an untrusted text.
  private struct Fields {
    let body: String
    let signature: String
    let link: SignedLink

    init?(_ text: String) {
      guard text.utf8.count <= 1_024, text.hasPrefix(version + "."), let dot = text.lastIndex(of: ".") else {
        return nil
      }
      (body, signature) = (String(text[..<dot]), String(text[text.index(after: dot)...]))
      let parts = body.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 8, !signature.isEmpty, let right = AccessRight(letter: parts[1]),
        let issued = Int64(parts[2]), let expires = Self.number(parts[3]), let uses = Self.number(parts[4]),
        !parts[5].isEmpty, parts[5].utf8.allSatisfy(Base64URL.isLetter), let name = Self.decoded(parts[6]),
        let stream = Self.decoded(parts[7])
      else { return nil }
      link = SignedLink(
        right, issued: issued, expires: expires, uses: uses.map { Int(clamping: $0) }, id: String(parts[5]),
        name: name, stream: stream)
    }

    /// The inner nil: empty.
    private static func number(_ text: Substring) -> Int64?? {
      if text.isEmpty { return .some(nil) }
      guard let value = Int64(text) else { return nil }
      return value
    }

    private static func decoded(_ text: Substring) -> String?? {
      if text.isEmpty { return .some(nil) }
      guard let bytes = Base64URL.decode(text), let text = String(validating: bytes, as: UTF8.self) else { return nil }
      return text
    }
  }
}
