import RTCPrimitives

/// An address at which remote peers reach this machine although no interface has it: that of a NAT, of a container's host, or of a
/// router that forwards a port.
public struct AdvertisedAddress: Hashable, Sendable, CustomStringConvertible {
  /// An IP address or a DNS name.
  public let host: String
  /// The port outside, of UDP and TCP; nil: the same as inside.
  public let port: UInt16?

  /// Takes `192.0.2.1`, `192.0.2.1:5000`, `2001:db8::1`, `[2001:db8::1]:5000`, `host.example` and `host.example:5000`.
  public init?(_ text: String) {
    var host = text[...]
    var digits: Substring?
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else { return nil }
      host = text[..<end].dropFirst()
      let rest = text[text.index(after: end)...]
      guard rest.isEmpty || rest.hasPrefix(":"), IPAddress(host)?.isV4 == false else { return nil }
      digits = rest.isEmpty ? nil : rest.dropFirst()
    } else if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1, let colon = text.firstIndex(of: ":") {
      (host, digits) = (text[..<colon], text[text.index(after: colon)...])
    }
    if let digits {
      guard digits.utf8.allSatisfy({ (48...57).contains($0) }), let number = UInt16(digits), number > 0 else {
        return nil
      }
      port = number
    } else {
      port = nil
    }
    if let ip = IPAddress(host) {
      guard !ip.isUnspecified, !ip.isLinkLocal else { return nil }
    } else {
      guard (1...253).contains(host.utf8.count), host.utf8.contains(where: { !(46...57).contains($0) }),
        host.utf8.allSatisfy(Self.isNameByte)
      else { return nil }
    }
    self.host = String(host)
  }

  /// Letters, digits, dots, hyphens and underscores.
  private static func isNameByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || [45, 46, 95].contains(byte)
  }

  /// As it is written on a command line.
  public var description: String {
    let text = host.contains(":") && port != nil ? "[\(host)]" : host
    return text + (port.map { ":\($0)" } ?? "")
  }
}
