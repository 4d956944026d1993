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

  /// Whether `other` is one of them.
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
