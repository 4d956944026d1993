import Glibc
import NIOCore
import NIOPosix
import RTCSignaling

/// The sockets at which a server listens: one, or for every address of the machine one for each IP version that it has.
struct Listeners {
  /// Ports that the system chose for IPv4 and that are taken for IPv6: so many are tried.
  private static let attempts = 16

  let channels: [any Channel]
  let takesIPv4: Bool
  let takesIPv6: Bool
  let port: UInt16
  /// The host that programs on this machine connect to.
  let localHost: HostName

  init(_ bootstrap: ServerBootstrap, at address: ListenAddress) async throws {
    let host = address.host
    if host.isUnspecified, host.isIPv6 {
      let bound = try await Self.bindBoth(bootstrap, port: address.port)
      channels = [bound.v4, bound.v6].compactMap { $0 }
      (takesIPv4, takesIPv6) = (bound.v4 != nil, bound.v6 != nil)
      localHost = HostName(takesIPv4 && Self.hasLoopback4 || !takesIPv6 ? "127.0.0.1" : "::1")
    } else {
      channels = [
        try await bootstrap.bind(host: host.text == "localhost" ? "127.0.0.1" : host.text, port: Int(address.port))
          .get()
      ]
      (takesIPv4, takesIPv6) = (!host.isIPv6, host.isIPv6)
      localHost = host.isUnspecified ? HostName("127.0.0.1") : host
    }
    port = channels.first?.localAddress?.port.flatMap { UInt16(exactly: $0) } ?? address.port
  }

  /// Sockets that listen already.
  /// - Parameter address: what they are bound to.
  init(_ bootstrap: ServerBootstrap, inheriting sockets: [Int32], at address: ListenAddress) async throws {
    var channels: [any Channel] = []
    for socket in sockets { channels.append(try await bootstrap.withBoundSocket(socket).get()) }
    self.channels = channels
    let protocols = channels.map { $0.localAddress?.protocol }
    (takesIPv4, takesIPv6) = (protocols.contains(.inet), protocols.contains(.inet6))
    port = address.port
    localHost = address.host.isUnspecified ? HostName(takesIPv4 ? "127.0.0.1" : "::1") : address.host
  }

  /// A socket for each version, both with the same port. IPv6's does not take IPv4, or addresses of clients would be of
  /// two kinds.
  private static func bindBoth(
    _ bootstrap: ServerBootstrap, port: UInt16
  ) async throws -> (v4: (any Channel)?, v6: (any Channel)?) {
    var last: (any Error)?
    for _ in 0..<(port == 0 ? attempts : 1) {
      let first = try await optional {
        try await bootstrap.bind(to: SocketAddress(ipAddress: "0.0.0.0", port: Int(port))).get()
      }
      do {
        let second = try await optional {
          try await bootstrap
            .serverChannelOption(ChannelOptions.Types.SocketOption(level: .ipv6, name: .ipv6_v6only), value: 1)
            .bind(to: SocketAddress(ipAddress: "::", port: first?.localAddress?.port ?? Int(port))).get()
        }
        if first != nil || second != nil { return (first, second) }
        last = IOError(errnoCode: EADDRNOTAVAIL, reason: "bind")
      } catch {
        try? await first?.close()
        last = error
        guard port == 0, (error as? IOError)?.errnoCode == EADDRINUSE else { throw error }
      }
    }
    throw last ?? IOError(errnoCode: EADDRINUSE, reason: "bind")
  }

  /// Nil where the machine does not have the version.
  private static func optional(_ bind: () async throws -> any Channel) async throws -> (any Channel)? {
    do {
      return try await bind()
    } catch let error as IOError
      where [EAFNOSUPPORT, EADDRNOTAVAIL, EPROTONOSUPPORT, ENOPROTOOPT].contains(error.errnoCode)
    {
      return nil
    }
  }

  /// A machine that has IPv6 alone may be without 127.0.0.1.
  private static var hasLoopback4: Bool {
    let devices = (try? System.enumerateDevices()) ?? []
    return devices.contains { $0.address?.ipAddress == "127.0.0.1" }
  }
}
