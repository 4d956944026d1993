import Glibc
import RTCNet
import RTCPrimitives

/// Ports and addresses.
enum NetworkChecks {
  static func run() -> [Check] { [udp(), segmentation(), http(), addresses()] }

  private static func udp() -> Check {
    do throws(SystemError) {
      let port = try UDPPort()
      switch (port.hasIPv4, port.hasIPv6) {
      case (true, true): return .works("UDP", "a port opens on IPv4 and IPv6")
      case (true, false): return .works("UDP", "a port opens on IPv4; this machine has no IPv6")
      default: return .lacks("UDP", "a port opens on IPv6 only", advice: "Viewers without IPv6 cannot be reached.")
      }
    } catch {
      return .fails("UDP", error.description, advice: "Allow this program to open UDP sockets.")
    }
  }

  private static func segmentation() -> Check {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var size: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    let udpSegment: Int32 = 103  // UDP_SEGMENT of linux/udp.h
    if descriptor >= 0, getsockopt(descriptor, Int32(IPPROTO_UDP), udpSegment, &size, &length) == 0 {
      return .works("UDP GSO", "the kernel segments datagrams: sending to many viewers costs less")
    }
    return .lacks("UDP GSO", "missing; sending costs more", advice: "Use Linux 4.18 or later.")
  }

  private static func http() -> Check {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    if descriptor >= 0, bound == 0, listen(descriptor, 1) == 0 { return .works("HTTP", "a port opens on 127.0.0.1") }
    return .fails(
      "HTTP", "no port opens on 127.0.0.1: \(String(cString: strerror(errno)))",
      advice: "Allow this program to listen; is the loopback interface up (`ip link set lo up`)?")
  }

  private static func addresses() -> Check {
    let all = (try? NetworkInterfaces.addresses()) ?? []
    let outward = NetworkInterfaces.hostCandidates(from: all).filter { !$0.isLoopback }
    guard !outward.isEmpty else {
      return .lacks(
        "Addresses", "loopback only: nobody on another machine can watch",
        advice: "Connect this machine to a network.")
    }
    return .works("Addresses", outward.map(\.description).joined(separator: ", "))
  }
}
