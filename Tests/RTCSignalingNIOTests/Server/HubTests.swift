import NIOCore
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Testing

/// The hub on real sockets: handshake, frames, limits.
@Suite(.timeLimit(.minutes(1))) struct HubTests {
  private static let handshake = [
    "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ]

  private static func run(
    _ change: (inout HubLimits) -> Void = { _ in }, _ body: (Bench) async throws -> Void
  ) async throws {
    var limits = HubLimits()
    change(&limits)
    try await Bench.run(SignalingServerConfiguration(gate: .open(), hub: HubConfiguration(limits: limits)), body)
  }

  private func connect(_ bench: Bench, _ path: String) async throws -> Wire {
    var wire = try await bench.wire()
    try await wire.send(request("GET", path, headers: Self.handshake))
    let answer = try #require(await wire.answer())
    #expect(answer.status == 101)
    #expect(answer["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    return wire
  }

  @Test func `two clients register and one calls the other`() async throws {
    try await Self.run { bench in
      var alice = try await connect(bench, "/hub")
      var bob = try await connect(bench, "/hub")
      try await alice.sendFrame(#"{"type":"register","id":"alice"}"#)
      #expect(await alice.frame()?.text.hasPrefix(#"{"type":"registered","id":"alice""#) == true)
      try await bob.sendFrame(#"{"type":"register","id":"bob"}"#)
      #expect(await bob.frame()?.text.hasPrefix(#"{"type":"registered","id":"bob""#) == true)
      try await alice.sendFrame(#"{"type":"signal","to":"bob","data":{"type":"offer","sdp":"v=0"}}"#)
      #expect(await bob.frame()?.text == #"{"type":"signal","from":"alice","data":{"type":"offer","sdp":"v=0"}}"#)
      let metrics = try await bench.ask("GET", "/metrics")
      #expect(metrics.body.contains("rtcast_hub_peers 2\n"))
      #expect(try await bench.ask("GET", "/health").body.contains(#""hub":{"connections":2,"peers":2,"rooms":0}"#))
    }
  }

  @Test func `who says goodbye is gone at once, and is not waited for`() async throws {
    try await Self.run { bench in
      var alice = try await connect(bench, "/hub")
      try await alice.sendFrame(#"{"type":"register","id":"alice"}"#)
      #expect(await alice.frame() != nil)
      try await alice.sendClose()
      #expect(await alice.frame()?.opcode == 8)
      #expect(await alice.frame() == nil)
      #expect(try await bench.ask("GET", "/metrics").body.contains("rtcast_hub_peers 0\n"))
    }
  }

  @Test func `a PeerJS client is welcomed by its address, and a SkyRTC client by its first word`() async throws {
    try await Self.run { bench in
      #expect(try await bench.ask("GET", "/peerjs/id?ts=1").body.count == 36)
      var peer = try await connect(bench, "/peerjs?key=peerjs&id=p%201&token=t")
      #expect(await peer.frame()?.text == #"{"type":"OPEN"}"#)
      var sky = try await connect(bench, "/skyrtc")
      try await sky.sendFrame(#"{"eventName":"__join","data":{"room":"r"}}"#)
      #expect(await sky.frame()?.text.hasPrefix(#"{"eventName":"_peers","data":{"connections":[],"you":""#) == true)
    }
  }

  @Test func `a frame beyond the limit is refused with a word before the close`() async throws {
    try await Self.run({ $0.messageBytes = 200 }) { bench in
      var wire = try await connect(bench, "/hub")
      try await wire.sendFrame(String(repeating: "x", count: 1000))
      #expect(await wire.frame()?.text.contains("too-large") == true)
      let close = try #require(await wire.frame())
      #expect(close.opcode == 8 && close.payload.prefix(2) == [0x03, 0xF1])
    }
  }

  @Test func `who never registers is told and closed`() async throws {
    try await Self.run({ $0.registerTimeout = .milliseconds(50) }) { bench in
      var wire = try await connect(bench, "/hub")
      #expect(await wire.frame()?.text.contains("never-registered") == true)
      #expect(await wire.frame()?.opcode == 8)
    }
  }

  @Test func `refusals are HTTP answers`() async throws {
    try await Self.run { bench in
      #expect(try await bench.ask("GET", "/hub").status == 426)
      var wire = try await bench.wire()
      try await wire.send(request("GET", "/hub", headers: Self.handshake + ["Origin: https://elsewhere.example"]))
      #expect(await wire.answer()?.status == 403)
    }
    try await Bench.run { bench in
      var wire = try await bench.wire()
      try await wire.send(request("GET", "/hub", headers: Self.handshake))
      #expect(await wire.answer()?.status == 404)
    }
  }

  @Test func `the server says goodbye when it goes`() async throws {
    var left: Wire?
    try await Self.run { bench in left = try await connect(bench, "/hub") }
    #expect(await left?.frame()?.text.contains("shutting-down") == true)
    #expect(await left?.frame()?.payload.prefix(2) == [0x03, 0xE9])
  }
}
