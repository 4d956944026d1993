import Foundation
import ProcessKit
import RTCEngine
import RTCPeer
import RTCPrimitives
import Testing

/// Which candidates a loop gathers, and what it tells of servers.
@Suite(.timeLimit(.minutes(1)), .serialized) struct GatheringTests {
  /// The gathering report of a loop with these servers.
  private func report(
    _ servers: [ICEServer], trusting certificate: String? = nil, environment: [String: String]? = nil
  ) async throws -> GatheringReport {
    var options = TwoConnections.options
    options.iceServers = servers
    options.trustedCertificates = certificate
    options.environment = environment
    let loop = try PeerLoop(options)
    defer { loop.stop() }
    await PeerConnection(on: loop).gathered(within: .seconds(15))
    return try #require(await loop.gatheringReport())
  }

  @Test func `addresses and a server's answers are told`() async throws {
    let coturn = try Coturn()
    let report = try await report([try coturn.server("turn:127.0.0.1:\(coturn.port)")])
    #expect(report.isComplete)
    let server = try #require(report.servers.first)
    #expect(server.failure == nil && server.address == SocketAddress(ip: .loopbackV4, port: coturn.port))
    #expect(server.mapped?.ip == .loopbackV4 && server.relayed?.ip == .loopbackV4)
    #expect(try #require(server.answeredAfter) > .zero)
    #expect(report.addresses.contains { $0.ip == .loopbackV4 && $0.isOffered })
    #expect(report.candidates.contains { $0.contains("127.0.0.1") && $0.contains("typ host") })
    let relayed = try #require(server.relayed)
    #expect(report.candidates.contains { $0.contains("\(relayed.ip) \(relayed.port) typ relay") })
  }

  @Test(arguments: ["turn:127.0.0.1:PORT?transport=tcp", "turns:127.0.0.1:TLS"])
  func `a server is asked over TCP and TLS`(url: String) async throws {
    let coturn = try Coturn()
    let written = url.replacing("PORT", with: "\(coturn.port)").replacing("TLS", with: "\(coturn.tlsPort)")
    let report = try await report([try coturn.server(written)], trusting: coturn.certificate)
    #expect(report.servers.first?.failure == nil && report.servers.first?.relayed != nil)
    #expect(report.candidates.contains { $0.contains("typ relay") })
  }

  @Test func `a certificate that nobody vouches for is refused`() async throws {
    let coturn = try Coturn()
    let report = try await report([try coturn.server("turns:127.0.0.1:\(coturn.tlsPort)")])
    #expect(
      report.servers.first?.failure
        == "This machine does not trust the server's certificate; to trust it, name its PEM file in SSL_CERT_FILE.")
    #expect(!report.candidates.contains { $0.contains("typ relay") })
  }

  @Test(arguments: ["udp", "tcp"]) func `a server that refuses the password is told so`(transport: String) async throws
  {
    let coturn = try Coturn()
    let report = try await report([
      try coturn.server("turn:127.0.0.1:\(coturn.port)?transport=\(transport)", password: "byron")
    ])
    #expect(report.isComplete)
    #expect(report.servers.first?.failure == "It refuses the user name or the credential (401).")
  }

  @Test func `a server that nobody runs is refused over TCP at once`() async throws {
    let port = Coturn.freePort()
    let report = try await report([
      try ICEServer(parsing: ["turn:127.0.0.1:\(port)?transport=tcp"], username: "a", credential: "b")
    ])
    #expect(report.isComplete)
    #expect(report.servers.first?.failure?.hasPrefix("TCP to 127.0.0.1:\(port): Connection refused") == true)
  }

  @Test func `a name that nobody has is told, and does not hold up the others`() async throws {
    let coturn = try Coturn()
    let report = try await report([
      try ICEServer(parsing: ["stun:no-such-server.invalid"]),
      try ICEServer(parsing: ["stun:127.0.0.1:\(coturn.port)"]),
    ])
    #expect(report.isComplete)
    #expect(report.servers[0].failure?.hasPrefix("Its name was not found") == true)
    #expect(report.servers[1].failure == nil && report.servers[1].mapped?.ip == .loopbackV4)
  }

  @Test func `addresses of interfaces that are refused are not offered`() async throws {
    var options = TwoConnections.options
    options.interfaces = InterfaceFilter("lo")
    let loop = try PeerLoop(options)
    let report = try #require(await loop.gatheringReport())
    #expect(report.addresses.allSatisfy { $0.isOffered == ($0.interface == "lo") })
    #expect(report.candidates.allSatisfy { $0.contains(" 127.0.0.1 ") || $0.contains(" ::1 ") })
    #expect(!report.candidates.isEmpty)
    #expect(loop.hostAddresses().allSatisfy { $0.ip.isLoopback })
    loop.stop()
  }

  @Test func `a server that several connections name has one allocation, and other credentials change nothing`()
    async throws
  {
    let coturn = try Coturn()
    let loop = try PeerLoop(TwoConnections.options)
    var connections: [PeerConnection] = []
    for password in [Coturn.password, Coturn.password, "byron"] {
      var configuration = PeerConnection.Configuration()
      configuration.iceServers = [try coturn.server("turn:127.0.0.1:\(coturn.port)", password: password)]
      let connection = PeerConnection(on: loop, configuration: configuration)
      await connection.gathered(within: .seconds(15))
      connections.append(connection)
    }
    let report = try #require(await loop.gatheringReport())
    #expect(report.servers.count == 1 && report.servers.first?.failure == nil)
    let relayed = report.candidates.filter { $0.contains("typ relay") }
    #expect(relayed.count == 1)
    // Nobody names it any more.
    for connection in connections { await connection.close() }
    #expect(await loop.gatheringReport()?.servers.isEmpty == true)
    loop.stop()
  }

  @Test func `a server is asked through a proxy, which finds its name`() async throws {
    let coturn = try Coturn()
    let proxy = try TestProcess(["python3", "-c", Self.proxy, "\(coturn.port)"])
    #expect(proxy.says("listens"))
    let port = try #require(proxy.output.split(separator: " ").last).trimmingCharacters(in: .whitespacesAndNewlines)
    let report = try await report(
      [try coturn.server("turn:relay.invalid:3478?transport=tcp")],
      environment: ["https_proxy": "http://ada:lovelace@127.0.0.1:\(port)"])
    #expect(report.servers.first?.failure == nil && report.servers.first?.relayed != nil)
    #expect(proxy.says("CONNECT relay.invalid:3478 HTTP/1.1"))
    #expect(proxy.says("Basic YWRhOmxvdmVsYWNl"))
    proxy.end()
  }

  /// Makes one tunnel, to the port of its argument.
  private static let proxy = """
    import socket, sys, threading
    listener = socket.create_server(("127.0.0.1", 0))
    print("listens", listener.getsockname()[1], flush=True)
    near, _ = listener.accept()
    request = b""
    while b"\\r\\n\\r\\n" not in request: request += near.recv(4096)
    print(request.decode(), flush=True)
    far = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    near.sendall(b"HTTP/1.1 200 Connection established\\r\\n\\r\\n")
    def copy(a, b):
        while part := a.recv(4096): b.sendall(part)
    threading.Thread(target=copy, args=(far, near), daemon=True).start()
    copy(near, far)
    """
}
