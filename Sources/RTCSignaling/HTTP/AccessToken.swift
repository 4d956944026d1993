/// The secret that a request must carry as `Authorization: Bearer …` (RFC 6750 §2.1).
public struct AccessToken: Hashable, Sendable {
  private let bytes: [UInt8]

  /// Nil for text that no header can carry: empty, longer than 1,024 bytes, or with blanks, control or non-ASCII
  /// characters.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    guard (1...1024).contains(bytes.count), bytes.allSatisfy({ (33...126).contains($0) }) else { return nil }
    self.bytes = bytes
  }

  /// Whether the value of an `Authorization` header carries this token. Takes as long for a wrong token as for the right
  /// one of the same length.
  public func admits(authorization: String?) -> Bool {
    guard let authorization else { return false }
    let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return false }
    return admits(String(parts[1].drop { $0 == " " }))
  }

  /// Whether this is the token. Takes as long for a wrong token as for the right one of the same length.
  public func admits(_ shown: String) -> Bool { Secret.matches(shown, bytes) }

  /// The header's value for a client that has the token.
  public var authorization: String { "Bearer " + text }

  /// Percent-encoded for a URL's query or fragment.
  public var inURL: String { PercentEncoding.encode(text) }

  private var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension AccessToken: CustomStringConvertible {
  /// Never the secret itself, so that it cannot reach a log by accident.
  public var description: String { "AccessToken(…)" }
}
