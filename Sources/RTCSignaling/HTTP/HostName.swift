/// The host part of an address or of a `Host` header, as far as trust decisions need it. An unrecognised text counts as
/// a name, that is, as not loopback.
public struct HostName: Hashable, Sendable {
  /// Lower case, IPv6 without brackets.
  public let text: String

  /// Takes any text; see `isAddress`.
  public init(_ text: some StringProtocol) {
    let bare = text.hasPrefix("[") && text.hasSuffix("]") ? text.dropFirst().dropLast() : text[...]
    self.text = bare.lowercased()
  }

  /// Four decimal parts up to 255.
  public var isIPv4: Bool {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4
      && parts.allSatisfy { part in
        (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { (48...57).contains($0) } && UInt8(part) != nil
      }
  }

  /// Has a colon, which no name can have.
  public var isIPv6: Bool { text.utf8.contains(58) }

  /// True for a literal IPv4 or IPv6 address.
  public var isAddress: Bool { isIPv4 || isIPv6 }

  /// 127/8, ::1, or the name that RFC 6761 reserves for them.
  public var isLoopback: Bool {
    text == "localhost" || text == "::1" || text == "0:0:0:0:0:0:0:1" || (isIPv4 && text.hasPrefix("127."))
  }

  /// Every address of the machine.
  public var isUnspecified: Bool { text == "0.0.0.0" || text == "::" || text == "0:0:0:0:0:0:0:0" }

  /// The host in a URL: IPv6 in brackets, its zone percent-encoded (RFC 6874).
  public var inURL: String {
    guard isIPv6 else { return text }
    return "[" + text.split(separator: "%", maxSplits: 1).joined(separator: "%25") + "]"
  }

  /// Splits `HOST`, `HOST:PORT`, `[V6]` and `[V6]:PORT`. Nil if the text has none of these forms.
  package static func split(authority: some StringProtocol) -> (host: HostName, port: Substring?)? {
    let text = String(authority)[...]
    let host: String
    let rest: Substring
    if text.hasPrefix("[") {
      guard let close = text.firstIndex(of: "]"), let address = addressLiteral(text[..<close].dropFirst()) else {
        return nil
      }
      host = address
      rest = text[text.index(after: close)...]
    } else {
      let colon = text.firstIndex(of: ":") ?? text.endIndex
      host = String(text[..<colon])
      rest = text[colon...]
    }
    guard !host.isEmpty, host.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 47 && $0 != 64 && $0 != 92 })
    else { return nil }
    if rest.isEmpty { return (HostName(host), nil) }
    guard rest.hasPrefix(":"), !rest.dropFirst().contains(":") else { return nil }
    return (HostName(host), rest.dropFirst())
  }

  /// The text in brackets. Outside of URLs, the percent sign of a zone is not encoded (RFC 6874).
  private static func addressLiteral(_ text: Substring) -> String? {
    let percent = text.firstIndex(of: "%") ?? text.endIndex
    let address = text[..<percent]
    guard address.contains(":"), text.utf8.allSatisfy(isIPv6Byte) else { return nil }
    var zone = text[percent...].dropFirst()
    if zone.hasPrefix("25"), zone.utf8.count > 2 { zone = zone.dropFirst(2) }
    if percent < text.endIndex, zone.isEmpty || zone.contains(where: { $0 == "%" || $0 == ":" }) { return nil }
    return String(percent < text.endIndex ? text[...percent] + zone : address)
  }

  /// Hexadecimal digits, `:`, `.`, and the zone's `%` with what interface names are made of.
  private static func isIPv6Byte(_ byte: UInt8) -> Bool {
    (48...58).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 46 || byte == 37
      || byte == 45 || byte == 95
  }
}
