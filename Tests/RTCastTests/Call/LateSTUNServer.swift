import Glibc
import RTCPrimitives
import Testing

/// A STUN server on loopback that answers when a test says so, and tells every client another address than it has.
final class LateSTUNServer {
  /// The address that it tells.
  static let mapped = (address: "203.0.113.7", port: 40_404)

  private let descriptor: Int32
  let port: UInt16

  init() throws {
    descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let file = descriptor
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(file, $0, size) == 0 && getsockname(file, $0, &size) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    // So that a test without any request fails and does not hang.
    var limit = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  var server: ICEServer {
    get throws { try ICEServer(parsing: ["stun:127.0.0.1:\(port)"]) }
  }

  /// Waits for a request, and answers all that have come so far.
  func answer() throws {
    try #require(answerNext(flags: 0))
    while answerNext(flags: Int32(MSG_DONTWAIT)) {}
  }

  private func answerNext(flags: Int32) -> Bool {
    var request = [UInt8](repeating: 0, count: 1_500)
    var client = sockaddr_in()
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    return withUnsafeMutablePointer(to: &client) { client in
      client.withMemoryRebound(to: sockaddr.self, capacity: 1) { client in
        guard recvfrom(descriptor, &request, request.count, flags, client, &size) >= 20 else { return false }
        let response = Self.response(to: request)
        return sendto(descriptor, response, response.count, 0, client, size) == response.count
      }
    }
  }

  /// A Binding success response with XOR-MAPPED-ADDRESS (RFC 8489 §5, §14.2).
  private static func response(to request: [UInt8]) -> [UInt8] {
    let cookie: [UInt8] = [0x21, 0x12, 0xA4, 0x42]
    let address = mapped.address.split(separator: ".").map { UInt8($0)! }
    let port = UInt16(mapped.port) ^ 0x2112
    return [0x01, 0x01, 0, 12] + request[4..<20] + [0x00, 0x20, 0, 8, 0, 1, UInt8(port >> 8), UInt8(port & 255)]
      + zip(address, cookie).map { $0 ^ $1 }
  }
}
