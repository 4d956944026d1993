import RTCEngine
import RTCNet
import RTCPeer
import RTCSCTP
import Testing

/// Connections with a UDP port of their own.
@Suite(.timeLimit(.minutes(1))) struct OwnPortTests {
  private static func connection(on loop: PeerLoop) -> PeerConnection {
    var configuration = PeerConnection.Configuration()
    configuration.ownsPort = true
    return PeerConnection(on: loop, configuration: configuration)
  }

  /// The ports of the candidates in a description.
  private func ports(in sdp: String) -> Set<UInt16> {
    Set(
      sdp.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=candidate:") }
        .compactMap { UInt16($0.split(separator: " ")[5]) })
  }

  @Test func `two connections of one loop to one remote port are told apart`() async throws {
    let (loop, server) = (try PeerLoop(TwoConnections.options), try PeerLoop(TwoConnections.options))
    var names: [String] = []
    var connections: [PeerConnection] = []
    for name in ["first", "second"] {
      let (caller, callee) = (Self.connection(on: loop), PeerConnection(on: server))
      connections += [caller, callee]
      _ = try await caller.createDataChannel(name)
      let offer = try await caller.createOffer()
      #expect(!ports(in: offer).contains(loop.port) && ports(in: offer).count == 1)
      try await caller.accept(answer: callee.answer(to: offer))
      let channel = await first(of: callee.events) {
        if case .dataChannelOpened(let channel) = $0 { channel } else { nil }
      }
      names.append(try #require(channel).label)
    }
    #expect(names == ["first", "second"])
    for connection in connections { await connection.close() }
    loop.stop()
    server.stop()
  }

  @Test func `a port is closed with its connection`() async throws {
    let loop = try PeerLoop(TwoConnections.options)
    let connection = Self.connection(on: loop)
    _ = try await connection.createDataChannel("chat")
    let port = try #require(ports(in: try await connection.createOffer()).first)
    #expect(throws: SystemError.self) { try UDPPort(.init(port: port)) }
    await connection.close()
    // After the close the loop has had a turn.
    _ = await loop.networkCounters()
    _ = await loop.networkCounters()
    #expect(try UDPPort(.init(port: port)).number == port)
    loop.stop()
  }

  @Test func `ports of a range are taken from it, the loop's own too`() async throws {
    var options = TwoConnections.options
    let start = Coturn.freePort()
    try #require(start < 65_000)
    options.portRange = start...start + 9
    let loop = try PeerLoop(options)
    let connection = Self.connection(on: loop)
    _ = try await connection.createDataChannel("chat")
    let used = ports(in: try await connection.createOffer()).union([loop.port])
    #expect(used.count == 2 && used.allSatisfy { (start...start + 9).contains($0) })
    await connection.close()
    loop.stop()
  }
}
