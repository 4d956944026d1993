import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct HostileDatagrams {
  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `random datagrams are counted and change nothing`(_ seed: UInt64)
    throws
  {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    var random = SeededGenerator(seed: seed)
    let firstBytes: [UInt8] = [0, 1, 2, 20, 22, 23, 64, 70, 100, 127, 128, 129, 144, 176, 191, 255]
    for _ in 0..<400 {
      for side in [PeerPair.Side.offerer, .answerer] {
        var bytes = (0..<Int(random.next() % 200)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        if !bytes.isEmpty { bytes[0] = firstBytes[Int(random.next() % UInt64(firstBytes.count))] }
        pair.inject(bytes, into: side)
      }
      pair.run(for: .milliseconds(10))
    }
    #expect(pair.areConnected)
    let drops = pair.receiver.peer.statistics.drops
    #expect(drops.total > 200)
    #expect(drops[.unknownKind] > 0 && drops[.authentication] + drops[.malformed] > 0 && drops[.stun] > 0)
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.numbers.count >= 98)
  }

  @Test(arguments: 1...4 as ClosedRange<UInt64>) func `random datagrams do not keep two peers from connecting`(
    _ seed: UInt64
  ) throws {
    let pair = try PeerPair()
    var random = SeededGenerator(seed: seed)
    pair.exchangeDescriptions()
    for _ in 0..<400 where !pair.areConnected {
      for side in [PeerPair.Side.offerer, .answerer] {
        var bytes = (0..<60).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        bytes[0] = [0, 22, 20, 128][Int(random.next() & 3)]
        pair.inject(bytes, into: side)
      }
      pair.run(for: .milliseconds(5)) { $0.areConnected }
    }
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected)
  }

  @Test func `replayed, truncated and tampered packets are counted and change nothing`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.recordsDepartures = true
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(4))
    let recorded = pair.departures
    pair.recordsDepartures = false
    #expect(pair.receiver.peer.statistics.drops.total == 0)
    var random = SeededGenerator(seed: 1)
    for departure in recorded {
      pair.inject(departure.bytes, into: departure.side.other)
      pair.inject(Array(departure.bytes.prefix(Int(random.next() % 40))), into: departure.side.other)
      var tampered = departure.bytes
      tampered[Int(random.next() % UInt64(tampered.count))] ^= 1 << UInt8(random.next() & 7)
      pair.inject(tampered, into: departure.side.other)
    }
    pair.run(for: .seconds(2))
    #expect(pair.areConnected)
    let drops = pair.receiver.peer.statistics.drops
    #expect(drops[.replay] > 300)
    #expect(drops[.malformed] + drops[.authentication] > 300)
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.numbers.count >= 145)
  }

  @Test func `a far side that never reports costs bounded memory and does not stop the stream`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(5), frameSize: 8_000, keyFrameSize: 100_000, from: pair.now)
    pair.sender.followsTargetBitrate = false
    // Consent still passes: only what feeds back is lost.
    let sender = pair.options.sender
    pair.filter = { side, kind in side == sender || kind != .rtcp }
    pair.run(for: .seconds(20))
    #expect(pair.areConnected)
    let statistics = pair.sender.peer.statistics
    #expect(statistics.video.packetsSent > 5_000)
    #expect(pair.sender.peer.retainedPackets <= 1_100)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }
}
