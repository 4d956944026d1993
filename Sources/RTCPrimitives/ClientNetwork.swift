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
