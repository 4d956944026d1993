/// The network that a client's address is in, by which limits count: the address itself for IPv4, the /64 for IPv6, whose owner
/// has all of its 2⁶⁴ addresses.
package struct ClientNetwork: Hashable, Sendable, CustomStringConvertible {
  private enum Place: Hashable, Sendable {
    case v4(UInt32)
    case v6(UInt64)
    /// The address is not known.
    case unknown
  }

  private let place: Place
  /// This machine itself: its users, and proxies on it, which stand for many clients.
  package let isLoopback: Bool

  package init(_ address: IPAddress?) {
    let address = address?.unmapped
    isLoopback = address?.isLoopback ?? false
    place =
      switch address {
      case .v4(let value)?: .v4(value)
      case .v6(let high, _, _)?: .v6(high)
      case nil: .unknown
      }
  }

  /// - Parameter address: in text, without a port; a zone is left out.
  package init(_ address: String) { self.init(IPAddress(address.prefix { $0 != "%" })) }

  package var description: String {
    switch place {
    case .v4(let value): IPAddress.v4(value).description
    case .v6(let high): "\(IPAddress.v6(high: high, low: 0, scope: 0))/64"
    case .unknown: "an unknown address"
    }
  }
}

extension IPAddress {
  /// The IPv4 address where this is one that IPv6 maps (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2).
  public var unmapped: IPAddress {
    guard case .v6(0, let low, _) = self, low >> 32 == 0xFFFF else { return self }
    return .v4(UInt32(truncatingIfNeeded: low))
  }
}

/// The addresses that begin with the same bits: `192.0.2.0/24`, `2001:db8::/32`, or one address alone.
public struct AddressPrefix: Hashable, Sendable {
  private let address: IPAddress
  private let bits: Int

  /// An address, or one with the number of bits behind a slash; nil for anything else.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let address = IPAddress(parts[0])?.unmapped else { return nil }
    let all = address.isV4 ? 32 : 128
    guard parts.count == 2 else {
      (self.address, bits) = (address, all)
      return
    }
    guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (48...57).contains($0) }),
      let bits = Int(parts[1]), (0...all).contains(bits)
    else { return nil }
    (self.address, self.bits) = (address, bits)
  }

  /// Whether `other` has the prefix.
  public func contains(_ other: IPAddress) -> Bool {
    switch (address, other.unmapped) {
    case (.v4(let a), .v4(let b)): bits == 0 || (a ^ b) >> UInt32(32 - bits) == 0
    case (.v6(let high, let low, _), .v6(let otherHigh, let otherLow, _)):
      bits <= 64
        ? bits == 0 || (high ^ otherHigh) >> UInt64(64 - bits) == 0
        : high == otherHigh && (low ^ otherLow) >> UInt64(128 - bits) == 0
    case (.v4, .v6), (.v6, .v4): false
    }
  }
}
