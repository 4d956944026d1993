import NIOCore
import NIOHTTP1
import RTCPrimitives
import RTCSignaling

/// Finds the address of a client behind a proxy on this machine, such as one in front of a VPN's address.
enum ProxiedPlace {
  /// The client's address in the proxy's headers, or the address of this machine by which the client reached the proxy.
  ///
  /// It only decides which addresses of this machine the client is offered: limits count `remote`. So an untrusted
  /// proxy may state it, too. A name in `Host` is of no use, nor is an address of another machine.
  /// - Parameter remote: the address of the connection, or the one stated by a trusted proxy.
  /// - Returns: nil if `remote` is not of this machine, or nothing is known.
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
