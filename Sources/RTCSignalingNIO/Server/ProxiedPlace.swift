import NIOCore
import NIOHTTP1
import RTCPrimitives
import RTCSignaling

/// Where a client is that comes through a proxy on this machine, such as one in front of a VPN's address.
enum ProxiedPlace {
  /// The client's address as the proxy tells it, or the address of this machine by which the client reached the proxy.
  ///
  /// It decides which addresses of this machine the client is told, and nothing else: limits count `remote`. So a proxy
  /// that is not trusted may say it, too. A name in `Host` says nothing, nor does an address of another machine.
  /// - Parameter remote: the address of the connection, or what a trusted proxy says.
  /// - Returns: nil when `remote` is not of this machine, or nothing is known.
  static func of(_ remote: String, host: String?, _ headers: HTTPHeaders) -> IPAddress? {
    guard ClientNetwork(remote).isLoopback else { return nil }
    let client = ForwardedAddress.nearest(
      forwarded: headers["Forwarded"], forwardedFor: headers["X-Forwarded-For"])
    if let client, !client.isLoopback { return client }
    let named = [headers["X-Forwarded-Host"].last, host].compactMap { $0 }.compactMap { name in
      HostName.split(authority: name).flatMap { IPAddress($0.host.text)?.unmapped }
    }
    guard let address = named.first(where: { !$0.isLoopback }), isOurs(address) else { return nil }
    return address
  }

  private static func isOurs(_ address: IPAddress) -> Bool {
    let devices = (try? System.enumerateDevices()) ?? []
    return devices.contains { device in
      device.address?.ipAddress.flatMap { IPAddress($0.prefix { $0 != "%" }) }?.unmapped == address
    }
  }
}
