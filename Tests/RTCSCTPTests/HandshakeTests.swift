import FuzzSCTPBody
import RTCPrimitives
import RTCSCTP
import RTCTestKit
import RTCWire
import Testing

@Suite struct HandshakeTests {
  private static let beginnings: Set<SCTPChunkType> = [.initiation, .initiationAck, .cookieEcho]

  @Test(arguments: 0..<20) func `both begin at once and find each other, whatever is lost`(seed: Int) throws {
    var conditions = NetworkConditions.delayed(.milliseconds(20))
    conditions.loss = 0.4
    conditions.duplication = 0.2
    conditions.jitter = .milliseconds(30)
    conditions.reorders = true
    let pair = VirtualPair(seed: UInt64(seed), conditions: conditions)
    pair.start()
    let isUp = { (side: VirtualPair.Side) in pair.events[side]!.contains(.connected) }
    pair.run(for: .seconds(100), until: { isUp(.client) && isUp(.server) })
    #expect(isUp(.client) && isUp(.server))
  }

  @Test func `a peer that comes two seconds late is found`() throws {
    var client = DataChannelTransport()
    var outbox = DataChannelOutbox()
    var now = Timestamp.zero
    client.start(isClient: true, remoteMaximumMessageSize: nil, seed: 1, now: now, into: &outbox)
    var attempts = 1
    while now < .zero + .seconds(2) {
      outbox.removeAll()
      now = client.nextDeadline
      client.advance(now: now, into: &outbox)
      attempts += outbox.packets.count
    }
    #expect((3...6).contains(attempts))
    var server = DataChannelTransport()
    var answers = DataChannelOutbox()
    server.start(isClient: false, remoteMaximumMessageSize: nil, seed: 2, now: now, into: &answers)
    var events: [DataChannelEvent] = []
    for _ in 0..<4 {
      for i in 0..<answers.packets.count { client.handle(answers.packets.packet(i), now: now, into: &outbox) }
      answers.removeAll()
      for i in 0..<outbox.packets.count { server.handle(outbox.packets.packet(i), now: now, into: &answers) }
      events += outbox.events
      outbox.removeAll()
    }
    #expect(events == [.connected])
  }

  @Test func `a peer that never answers is given up`() throws {
    let pair = VirtualPair(conditions: .broken)
    pair.start()
    pair.run(for: .seconds(300), until: { pair.events[.client]!.last == .ended(.timeout) })
    #expect(pair.events[.client]! == [.ended(.timeout)])
  }

  @Test func `a peer that begins anew ends the association, one that only says so does not`() throws {
    var peer = ForgedClient()
    for seed in 0..<1_000 { peer.beginAnew(seed: UInt64(seed), echoes: false) }
    #expect(peer.events == [.connected])
    peer.sendData([1], flags: 3, stream: 3, number: 0, protocol: 53)
    peer.pass(.seconds(1))
    #expect(peer.acknowledged == peer.nextTSN &- 1)
    peer.beginAnew(seed: 7, echoes: true)
    #expect(peer.events.last == .ended(.closedByPeer))
  }

  @Test func `one INIT gets one answer, however many come`() {
    var peer = ForgedClient()
    let before = peer.packetCount
    for seed in 0..<5_000 { peer.beginAnew(seed: UInt64(seed), echoes: false) }
    #expect(peer.packetCount - before == 5_000)
  }

  @Test func `between two of ours packets bear no checksum but those of the handshake`() throws {
    let pair = VirtualPair()
    pair.start()
    let near = try pair.open(DataChannelParameters(), on: .client)
    pair.run(for: .seconds(1))
    try pair.send(.text("hello"), on: near, from: .client)
    pair.run(for: .seconds(1))
    var kinds: Set<SCTPChunkType> = []
    for bytes in pair.packets {
      guard let packet = SCTPPacket(parsing: bytes.span) else {
        Issue.record("no packet")
        return
      }
      var chunks = packet.chunks
      guard let first = chunks.next()?.type else { continue }
      kinds.insert(first)
      let isBeginning = Self.beginnings.contains(first)
      #expect(isBeginning ? packet.hasCorrectChecksum : packet.checksum == 0, "\(first)")
    }
    #expect(kinds.isSuperset(of: Self.beginnings.union([.interleavedData])))
  }

  /// The capabilities in the INIT or INIT ACK of a packet.
  private static func capabilities(in packet: Span<UInt8>) -> SCTPCapabilities? {
    guard let packet = SCTPPacket(parsing: packet) else { return nil }
    var chunks = packet.chunks
    guard let first = chunks.next() else { return nil }
    return SCTPInitiation(parsing: first)?.capabilities
  }

  // Pion before 1.8.9 passes over every INIT and INIT ACK that announces it.
  @Test func `a peer that does not know of zero checksums is not told of them for long`() {
    var transport = DataChannelTransport()
    var outbox = DataChannelOutbox()
    var now = Timestamp.zero
    transport.start(isClient: true, remoteMaximumMessageSize: nil, seed: 1, now: now, into: &outbox)
    var announced: [Bool] = []
    for _ in 0..<4 {
      announced.append(Self.capabilities(in: outbox.packets.packet(0))?.acceptsZeroChecksum == true)
      outbox.removeAll()
      now = transport.nextDeadline
      transport.advance(now: now, into: &outbox)
    }
    #expect(announced == [true, true, false, false])
  }

  @Test(arguments: [false, true]) func `who announces zero checksums is told that we take them too`(knows: Bool) {
    var initiation = SCTPInitiation(
      initiateTag: 7, receiverWindow: 100_000, outboundStreams: 10, inboundStreams: 10, initialTSN: TSN(1))
    initiation.capabilities.acceptsZeroChecksum = knows
    var bytes = [UInt8](repeating: 0, count: SCTPPacket.headerSize + initiation.size)
    var writer = ByteWriter(bytes.mutableSpan)
    SCTPPacket.writeHeader(sourcePort: 5000, destinationPort: 5000, verificationTag: 0, into: &writer)
    initiation.write(into: &writer)
    var packet = bytes.mutableSpan
    SCTPPacket.writeChecksum(into: &packet)
    var transport = DataChannelTransport()
    var outbox = DataChannelOutbox()
    transport.start(isClient: true, remoteMaximumMessageSize: nil, seed: 1, now: .zero, into: &outbox)
    outbox.removeAll()
    transport.handle(bytes.span, now: .zero, into: &outbox)
    #expect(Self.capabilities(in: outbox.packets.packet(0))?.acceptsZeroChecksum == knows)
  }

  @Test func `a packet with a wrong checksum is passed over`() {
    var peer = ForgedClient()
    let chunk = ForgedClient.chunk(.selectiveAcknowledgement, flags: 0, [UInt8](repeating: 0, count: 12))
    let before = peer.server.brokenPackets
    peer.send(chunks: chunk, spoilsChecksum: true)
    #expect(peer.server.brokenPackets == before + 1)
  }
}
