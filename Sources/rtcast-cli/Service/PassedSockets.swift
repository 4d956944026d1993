import Glibc
import RTCPrimitives
import RTCSignaling

/// The sockets that a service manager passed, checked. The socket unit decides where the server listens.
struct PassedSockets {
  let descriptors: [Int32]
  /// The address of the first socket. If the sockets are bound to all addresses of both IP versions, it is every
  /// address of the machine.
  let address: ListenAddress

  /// Takes the passed sockets; nil if none were passed.
  /// - Parameter option: the address of `--listen`, if it is set.
  static func take(unlessListeningAt option: ListenAddress?) throws(CastFailure) -> PassedSockets? {
    let descriptors = ServiceNotifier.takeSockets()
    guard !descriptors.isEmpty else { return nil }
    guard option == nil else {
      throw CastFailure(
        .usage, "The service manager passes a socket to listen at, and --listen names an address; remove one of them.")
    }
    var addresses: [ListenAddress] = []
    for descriptor in descriptors { addresses.append(try address(of: descriptor)) }
    let hosts = addresses.map(\.host)
    if Set(addresses.map { $0.socketPath != nil }).count == 2 {
      throw CastFailure(
        .usage,
        "The service manager passes Unix sockets and TCP sockets; use socket units of one kind for this service.")
    }
    let isEverywhere = hosts.allSatisfy(\.isUnspecified) && Set(hosts.map(\.isIPv6)).count == 2
    let address = isEverywhere ? .everywhere(port: addresses[0].port) : addresses[0]
    return PassedSockets(descriptors: descriptors, address: address)
  }

  private static func address(of descriptor: Int32) throws(CastFailure) -> ListenAddress {
    let family = option(SO_DOMAIN, of: descriptor)
    guard option(SO_ACCEPTCONN, of: descriptor) == 1, family == AF_INET || family == AF_INET6 || family == AF_UNIX
    else {
      throw CastFailure(
        .usage, "The service manager passes something other than a listening stream socket; use ListenStream=.")
    }
    if family == AF_UNIX { return .unixSocket(path(of: descriptor)) }
    if family == AF_INET6, option(IPV6_V6ONLY, of: descriptor, level: Int32(IPPROTO_IPV6)) == 0 {
      throw CastFailure(
        .usage,
        "The service manager passes a socket for IPv6 that takes IPv4 as well. In the socket unit, set "
          + "BindIPv6Only=ipv6-only, and name both, such as ListenStream=0.0.0.0:443 and ListenStream=[::]:443.")
    }
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let status = withUnsafeMutablePointer(to: &storage) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { name in
        getsockname(descriptor, name, &length) == 0
          ? getnameinfo(
            name, length, &host, socklen_t(host.count), &port, socklen_t(port.count), NI_NUMERICHOST | NI_NUMERICSERV)
          : EAI_SYSTEM
      }
    }
    guard status == 0, let number = UInt16(text(port)) else {
      throw CastFailure(
        .software, "The address of a passed socket cannot be read: \(String(cString: strerror(errno))).")
    }
    return ListenAddress(host: HostName(text(host)), port: number)
  }

  /// The path of a Unix socket.
  private static func path(of descriptor: Int32) -> String {
    var name = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let status = withUnsafeMutablePointer(to: &name) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
    }
    guard status == 0 else { return "" }
    return withUnsafeBytes(of: &name.sun_path) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// The value of a socket option; nil if the descriptor is not a socket.
  private static func option(_ name: Int32, of descriptor: Int32, level: Int32 = SOL_SOCKET) -> Int32? {
    var value: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    return getsockopt(descriptor, level, name, &value, &length) == 0 ? value : nil
  }

  private static func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
