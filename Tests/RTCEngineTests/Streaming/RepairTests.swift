import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct Repair {
  @Test func `a lost packet comes again by RTX, and no frame twice`() throws {
    let pair = try lossyPair(PeerPair.Options())
    let statistics = pair.sender.peer.statistics.video
    #expect(statistics.packetsRetransmitted > 10)
    #expect(statistics.nackCount > 0 && statistics.nackedPackets >= statistics.packetsRetransmitted / 2)
    // RTX is a stream of its own: two SSRCs, and no sequence number twice within one.
    let headers = pair.departures.compactMap(\.header)
    let streams = Dictionary(grouping: headers, by: \.ssrc)
    #expect(streams.count == 2)
    for stream in streams.values { #expect(Set(stream.map(\.sequenceNumber)).count == stream.count) }
    #expect(Set(headers.map(\.payloadType)).count == 2)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `without RTX the very same packet comes again`() throws {
    var options = PeerPair.Options()
    options.rewrite = { _, description in
      var kept: [String] = []
      for line in description.split(separator: "\r\n") where !line.contains("rtx") && !line.contains("apt=") {
        kept.append(line.hasPrefix("m=video") ? String(line.replacing(" 97", with: "")) : String(line))
      }
      return kept.joined(separator: "\r\n") + "\r\n"
    }
    let pair = try lossyPair(options)
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted > 10)
    let media = pair.departures.filter { $0.header != nil }
    #expect(Set(media.compactMap(\.header?.ssrc)).count == 1)
    let again = Dictionary(grouping: media, by: \.header!.sequenceNumber).values.filter { $0.count > 1 }
    #expect(again.count > 10)
    // One nonce must never protect two different packets.
    for copies in again { #expect(Set(copies.map(\.bytes)).count == 1) }
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `the last packet of a picture, lost before a pause, comes again unasked`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    let before = pair.receiver.frames.count
    pair.run(for: .seconds(1)) { $0.receiver.frames.count > before }
    pair.network[pair.mediaDirection] = .broken
    let count = pair.sender.peer.statistics.video.framesSent
    pair.run(for: .seconds(1)) { $0.sender.peer.statistics.video.framesSent > count }
    pair.sender.source = nil  // the screen rests
    pair.network[pair.mediaDirection] = .delayed(.milliseconds(20))
    pair.run(for: .seconds(1))
    #expect(FrameChain(pair.receiver.frames).numbers.last == UInt64(pair.sender.peer.statistics.video.framesSent) - 1)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test func `a resting picture costs no repairs`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(interval: .seconds(1), from: pair.now)
    pair.run(for: .seconds(20))
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted == 0)
  }

  @Test func `when repair fails the viewer asks for a key frame and goes on from it`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    // Everything but the viewer's reports gets lost for so long that the sender forgets what is asked for.
    pair.network[pair.mediaDirection] = .broken
    pair.run(for: .seconds(8))
    pair.network[pair.mediaDirection] = .delayed(.milliseconds(20))
    let before = pair.receiver.frames.count
    pair.run(for: .seconds(3))
    let statistics = pair.sender.peer.statistics.video
    #expect(statistics.pliCount + statistics.repairsAbandoned > 0)
    #expect(pair.receiver.frames.count > before + 30)
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.keyFrames >= 2)
  }

  @Test func `a viewer that loses the first key frame asks for another, even when its request is lost too`() throws {
    let pair = try PeerPair()
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.network[pair.mediaDirection] = .broken
    pair.run(for: .milliseconds(100))
    pair.network[pair.mediaDirection] = .delayed(.milliseconds(20))
    pair.network[pair.options.sender.other == .offerer ? .aToB : .bToA] = .broken
    pair.run(for: .milliseconds(700))
    #expect(pair.receiver.frames.isEmpty)
    pair.network[pair.options.sender.other == .offerer ? .aToB : .bToA] = .delayed(.milliseconds(20))
    pair.run(for: .seconds(1))
    #expect(FrameChain(pair.receiver.frames).isSound)
    #expect(pair.receiver.frames.count > 5)
  }

  private func lossyPair(_ options: PeerPair.Options) throws -> PeerPair {
    var options = options
    // Retransmission alone.
    options.configure = { _, configuration in configuration.usesForwardErrorCorrection = false }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = 0.05
    pair.recordsDepartures = true
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(10))
    pair.sender.source = nil
    pair.run(for: .seconds(1))
    #expect(pair.receiver.frames.count >= 245)
    return pair
  }
}
