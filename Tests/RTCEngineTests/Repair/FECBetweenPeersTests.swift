import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Repair packets between two peers on a path that loses packets.
@Suite struct FECBetweenPeers {
  /// How the two may repair.
  enum Scheme: String, CaseIterable {
    case none, flexFEC, ulpfec

    /// Changes the offer so that nothing better is left.
    func rewrite(_ description: String) -> String {
      self == .ulpfec ? description.replacing("flexfec-03", with: "unknown-03") : description
    }
  }

  /// 20 s of scrolling text: 30 frames a second of about ten packets, 10 % of all packets lost, 50 ms there and back.
  private func pair(
    _ scheme: Scheme, loss: Double = 0.1, codec: VideoCodec = .vp8, frameSize: Int = 11_000, hasNACK: Bool = true,
    rate: BitRate = .megabitsPerSecond(10)
  ) throws -> PeerPair {
    var options = PeerPair.Options()
    options.seed = 5
    options.conditions = .delayed(.milliseconds(25))
    (options.bitrates.minimum, options.bitrates.start, options.bitrates.maximum) = (rate, rate, rate)
    options.configure = { _, configuration in
      configuration.usesForwardErrorCorrection = scheme != .none
      configuration.usesULPFEC = scheme == .ulpfec
      configuration.offersForwardErrorCorrection = true
      configuration.receivableVideo = [VideoPayloadFormat(codec: codec)]
      configuration.sendsVideo?.codecs = [VideoPayloadFormat(codec: codec)]
    }
    options.rewrite = { side, description in
      let kept = side == .offerer ? scheme.rewrite(description) : description
      return hasNACK ? kept : kept.replacing(" nack\r\n", with: " unknown\r\n")
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    var source = SyntheticVideo(interval: .milliseconds(33), frameSize: frameSize, from: pair.now)
    source.codec = codec
    pair.sender.source = source
    pair.run(for: .seconds(2))
    pair.network[pair.mediaDirection].loss = loss
    pair.run(for: .seconds(20))
    pair.network[pair.mediaDirection].loss = 0
    pair.run(for: .seconds(1))
    return pair
  }

  private func recovered(_ pair: PeerPair) -> Int {
    pair.receiver.peer.statistics.streams.first?.reception?.packetsRecovered ?? 0
  }

  @Test(arguments: [Scheme.flexFEC]) func `most lost packets come back without being asked for`(_ scheme: Scheme) throws
  {
    let (without, with) = (try pair(.none), try pair(scheme))
    let (before, after) = (without.sender.peer.statistics.video, with.sender.peer.statistics.video)
    #expect(before.fecPacketsSent == 0 && before.packetsRetransmitted > 500)
    #expect(Double(after.nackedPackets) < 0.3 * Double(before.nackedPackets))
    #expect(recovered(with) > 400)
    let chain = FrameChain(with.receiver.frames)
    #expect(chain.isSound && chain.numbers.count >= 680)
    // There is room for more than two for five, and never more than one for each.
    #expect(after.fecPacketsSent <= after.packetsSent)
    #expect(Double(after.fecPacketsSent) > 0.45 * Double(after.packetsSent))
  }

  @Test func `where video needs the rate, two repair packets for five are the most`() throws {
    let with = try pair(.flexFEC, rate: .megabitsPerSecond(3))
    let after = with.sender.peer.statistics.video
    #expect(Double(after.fecPacketsSent) <= 0.42 * Double(after.packetsSent))
  }

  @Test(arguments: [Scheme.flexFEC]) func `where nothing can be asked for again, most frames are whole all the same`(
    _ scheme: Scheme
  ) throws {
    // Half of all frames would lack something at 5 % loss; each of them would need a key frame.
    let pair = try pair(scheme, loss: 0.05, hasNACK: false)
    #expect(pair.sender.peer.statistics.video.nackCount == 0)
    #expect(pair.receiver.frames.count > 600)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test(arguments: [VideoCodec.vp9, .h264, .av1]) func `any codec can be protected`(_ codec: VideoCodec) throws {
    for scheme in [Scheme.flexFEC, .ulpfec] {
      let pair = try pair(scheme, codec: codec)
      #expect(recovered(pair) > 300, "\(scheme)")
      let chain = FrameChain(pair.receiver.frames)
      #expect(chain.isSound && chain.numbers.count >= 600, "\(scheme)")
    }
  }

  @Test func `large frames are protected in blocks`() throws {
    let pair = try pair(.flexFEC, frameSize: 80_000)
    #expect(recovered(pair) > 300 && FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `without loss no repair packets are sent`() throws {
    for scheme in [Scheme.flexFEC, .ulpfec] {
      let pair = try pair(scheme, loss: 0)
      #expect(pair.sender.peer.statistics.video.fecPacketsSent == 0 && recovered(pair) == 0)
    }
  }

  @Test func `no packet is longer than 1200 bytes, and repair packets of FlexFEC have a source of their own`() throws {
    var options = PeerPair.Options()
    options.conditions = .delayed(.milliseconds(25))
    options.configure = { _, configuration in configuration.offersForwardErrorCorrection = true }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(33), frameSize: 11_000, from: pair.now)
    pair.network[pair.mediaDirection].loss = 0.1
    pair.run(for: .seconds(2))
    pair.recordsDepartures = true
    pair.run(for: .seconds(3))
    let media = pair.departures.filter { $0.side == pair.options.sender && $0.header != nil }
    #expect(media.allSatisfy { $0.bytes.count <= 1_200 })
    let sources = Dictionary(grouping: media.compactMap(\.header), by: \.ssrc)
    #expect(sources.count == 3)
    for packets in sources.values { #expect(Set(packets.map(\.sequenceNumber)).count == packets.count) }
  }

  @Test func `no repair packet of ULPFEC has its number inside a frame`() throws {
    var options = PeerPair.Options()
    options.conditions = .delayed(.milliseconds(25))
    options.configure = { _, configuration in
      configuration.offersForwardErrorCorrection = true
      configuration.usesULPFEC = true
    }
    options.rewrite = { side, description in side == .offerer ? Scheme.ulpfec.rewrite(description) : description }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    // Sizes at which the packets of a frame are easily miscounted, and one that is larger than a block.
    for size in [4_400, 11_110, 16_695, 16_720, 60_000] {
      pair.sender.source = SyntheticVideo(interval: .milliseconds(33), frameSize: size, from: pair.now)
      pair.network[pair.mediaDirection].loss = 0.1
      pair.recordsDepartures = true
      pair.run(for: .seconds(2))
    }
    let primary = pair.departures.compactMap(\.header).first?.ssrc
    let media = pair.departures.compactMap(\.header).filter { $0.ssrc == primary }
      .sorted { $1.sequenceNumber.isNewer(than: $0.sequenceNumber) }
    // Packets of one timestamp: media up to the marker, and nothing but repair packets behind it.
    for frame in Dictionary(grouping: media, by: \.timestamp).values where frame.contains(where: \.marker) {
      let numbers = frame.map(\.sequenceNumber)
      guard let last = frame.first(where: \.marker)?.sequenceNumber, let first = numbers.first else { continue }
      #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0.advanced(by: 1) })
      #expect(!first.isNewer(than: last))
    }
    #expect(pair.sender.peer.statistics.video.fecPacketsSent > 50)
  }
}
