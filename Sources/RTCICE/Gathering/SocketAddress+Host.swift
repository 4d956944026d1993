import RTCPrimitives

extension SocketAddress {
  /// One host may have it: no port 0, nothing unspecified, no multicast, no broadcast.
  var isOfOneHost: Bool {
    guard port != 0, !ip.isUnspecified else { return false }
    switch ip {
    case .v4(let value): return value >> 28 < 0xE && value >> 24 != 0
    case .v6(let high, _, _): return high >> 56 != 0xFF
    }
  }
}
