import CLinux
import RTCPrimitives

extension clinux_address {
  init(_ address: SocketAddress) {
    self.init(address.ip)
    port = address.port
  }

  init(_ ip: IPAddress) {
    switch ip {
    case .v4(let bits): self.init(high: 0, low: UInt64(bits), scope: 0, port: 0, is_v6: 0)
    case .v6(let high, let low, let scope): self.init(high: high, low: low, scope: scope, port: 0, is_v6: 1)
    }
  }

  var ip: IPAddress {
    is_v6 != 0 ? .v6(high: high, low: low, scope: scope) : .v4(UInt32(truncatingIfNeeded: low))
  }

  var socketAddress: SocketAddress { SocketAddress(ip: ip, port: port) }
}
