/// An IPv4 or IPv6 address.
public enum IPAddress: Hashable, Sendable, BitwiseCopyable {
  /// The four bytes in network order, the first in the top bits.
  case v4(UInt32)
  /// The sixteen bytes in network order, and the scope (interface index) of a link-local address, else 0.
  case v6(high: UInt64, low: UInt64, scope: UInt32)

  /// 127.0.0.1.
  public static let loopbackV4 = IPAddress.v4(0x7F00_0001)
  /// ::1.
  public static let loopbackV6 = IPAddress.v6(high: 0, low: 1, scope: 0)

  /// True for an IPv4 address; false for an IPv6 address, even one that maps an IPv4 address.
  public var isV4: Bool { if case .v4 = self { true } else { false } }

  /// True for 127/8 and ::1.
  public var isLoopback: Bool {
    switch self {
    case .v4(let a): a >> 24 == 127
    case .v6(let high, let low, _): high == 0 && low == 1
    }
  }

  /// 169.254/16 or fe80::/10.
  public var isLinkLocal: Bool {
    switch self {
    case .v4(let a): a >> 16 == 0xA9FE
    case .v6(let high, _, _): high >> 54 == 0x3FA
    }
  }

  /// 0.0.0.0 or ::.
  public var isUnspecified: Bool {
    switch self {
    case .v4(let a): a == 0
    case .v6(let high, let low, _): high == 0 && low == 0
    }
  }
}

/// An IP address and a port.
public struct SocketAddress: Hashable, Sendable, BitwiseCopyable {
  /// The IP address.
  public var ip: IPAddress
  /// The port, in host byte order.
  public var port: UInt16

  /// The port `port` at the address `ip`.
  @inlinable
  public init(ip: IPAddress, port: UInt16) {
    self.ip = ip
    self.port = port
  }
}

// MARK: - Text

extension IPAddress: CustomStringConvertible {
  /// Parses dotted-quad IPv4 (four decimal parts) or RFC 4291 §2.2 IPv6 text; no zone, no name, no brackets.
  public init?(_ text: some StringProtocol) {
    guard let address = text.contains(":") ? Self.parseV6(text) : Self.parseV4(text) else { return nil }
    self = address
  }

  /// RFC 5952 form for IPv6, dotted quad for IPv4.
  public var description: String {
    switch self {
    case .v4(let a): "\(a >> 24).\(a >> 16 & 0xFF).\(a >> 8 & 0xFF).\(a & 0xFF)"
    case .v6(let high, let low, _): Self.formatV6(high, low)
    }
  }

  private static func parseV4(_ text: some StringProtocol) -> IPAddress? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 4 else { return nil }
    var value: UInt32 = 0
    for part in parts {
      guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (48...57).contains($0) }), let byte = UInt8(part)
      else { return nil }
      value = value << 8 | UInt32(byte)
    }
    return .v4(value)
  }

  private static func parseV6(_ text: some StringProtocol) -> IPAddress? {
    guard text.utf8.count <= 45 else { return nil }
    var groups: [UInt16] = []
    var gap: Int?
    var parts = text.split(separator: ":", omittingEmptySubsequences: false)[...]
    if parts.first?.isEmpty == true {  // a leading "::" gives two empty parts
      guard parts.count >= 3, parts.dropFirst().first?.isEmpty == true else { return nil }
      parts = parts.dropFirst()
    }
    if parts.last?.isEmpty == true {  // also a trailing one
      guard parts.count >= 2, parts.dropLast().last?.isEmpty == true else { return nil }
      parts = parts.dropLast()
    }
    for (index, part) in zip(parts.indices, parts) {
      if part.isEmpty {
        guard gap == nil else { return nil }
        gap = groups.count
      } else if part.contains("."), index == parts.endIndex - 1, case .v4(let v4)? = parseV4(part) {
        groups.append(UInt16(v4 >> 16))
        groups.append(UInt16(v4 & 0xFFFF))
      } else {
        guard part.utf8.count <= 4, !part.utf8.contains(43), !part.utf8.contains(45),
          let group = UInt16(part, radix: 16)
        else { return nil }
        groups.append(group)
      }
      guard groups.count <= 8 else { return nil }
    }
    if let gap {
      guard groups.count < 8 else { return nil }
      groups.insert(contentsOf: Array(repeating: 0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { return nil }
    let words = groups.map(UInt64.init)
    return .v6(
      high: words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
      low: words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7], scope: 0)
  }

  private static func formatV6(_ high: UInt64, _ low: UInt64) -> String {
    let groups = (0..<8).map { i in UInt16(truncatingIfNeeded: (i < 4 ? high : low) >> UInt64(48 - 16 * (i % 4))) }
    var best = 0..<0  // the longest run of at least two zero groups becomes "::" (RFC 5952 §4.2)
    var start = 0
    while start < 8 {
      var end = start
      while end < 8, groups[end] == 0 { end += 1 }
      if end - start > max(best.count, 1) { best = start..<end }
      start = max(end, start) + 1
    }
    let hex = { (range: Range<Int>) in groups[range].map { String($0, radix: 16) }.joined(separator: ":") }
    return best.isEmpty ? hex(0..<8) : hex(0..<best.lowerBound) + "::" + hex(best.upperBound..<8)
  }
}

extension SocketAddress: CustomStringConvertible {
  /// `a.b.c.d:port` or `[v6]:port`.
  public var description: String { ip.isV4 ? "\(ip):\(port)" : "[\(ip)]:\(port)" }
}
