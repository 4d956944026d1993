import Foundation
import RTCPeer
import RTCPrimitives
import Testing

/// TCP on the loop's port, for peers whose UDP is blocked (RFC 6544).
@Suite(.timeLimit(.minutes(1))) struct StreamCandidateTests {
  private func offer(_ loop: PeerLoop) async throws -> String {
    let connection = PeerConnection(on: loop)
    _ = try await connection.createDataChannel("chat")
    return try await connection.createOffer()
  }

  @Test func `a passive candidate over TCP is offered for each address, on the port of UDP where that is free`()
    async throws
  {
    var options = TwoConnections.options
    options.servesTCP = true
    let loop = try PeerLoop(options)
    let sdp = try await offer(loop)
    #expect(sdp.contains(" tcp ") && sdp.contains("127.0.0.1 \(loop.port) typ host tcptype passive"), "\(sdp)")
    loop.stop()
    let without = try PeerLoop(TwoConnections.options)
    #expect(try await !offer(without).contains("tcptype"))
    without.stop()
  }

  @Test func `connections that say nothing are taken from one address up to a number`() async throws {
    var options = TwoConnections.options
    options.servesTCP = true
    let loop = try PeerLoop(options)
    _ = try await offer(loop)
    let sockets = (0..<12).map { _ in connectTCP(to: loop.port) }
    // The last ones are closed by the loop, which a read tells; the first eight stay.
    for socket in sockets.suffix(4) { #expect(isClosed(socket, waiting: true)) }
    for socket in sockets.prefix(8) { #expect(!isClosed(socket, waiting: false)) }
    for socket in sockets { close(socket) }
    loop.stop()
  }

  private func connectTCP(to port: UInt16) -> Int32 {
    let file = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(file, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    #expect(result == 0)
    return file
  }

  private func isClosed(_ file: Int32, waiting: Bool) -> Bool {
    var byte: UInt8 = 0
    return recv(file, &byte, 1, waiting ? 0 : Int32(MSG_DONTWAIT)) == 0
  }
}
