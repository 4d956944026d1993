import RTCEngine
import RTCPrimitives
import RTCTestKit
import Testing

@Suite struct ManyVideos {
  @Test(arguments: [0, 0.02, 0.1, 0.3])
  func `several videos and sounds both ways arrive whole and unmixed, whatever the loss`(_ loss: Double) throws {
    let pair = try PeerPair.inCall(seed: 5)
    var videos: [(side: PeerPair.Side, id: TransceiverID)] = []
    var sounds: [(side: PeerPair.Side, id: TransceiverID)] = []
    for side in [PeerPair.Side.offerer, .answerer] {
      pair.perform(side, .startConfiguration)
      for number in 0..<3 { videos.append((side, pair.addTrack(.video, "v\(number)", on: side))) }
      for number in 0..<2 { sounds.append((side, pair.addTrack(.audio, "a\(number)", on: side))) }
      pair.perform(side, .commitConfiguration)
      pair.run(for: .seconds(1))
    }
    try #require(pair.areAgreed && pair.agreesWithItself)
    pair.network[.aToB].loss = loss
    pair.network[.bToA].loss = loss
    for (place, video) in videos.enumerated() {
      // Other sizes and rhythms for each, so that nothing of one could pass for another's.
      var source = SyntheticVideo(
        interval: .milliseconds(40 + Int64(place)), frameSize: 1_000 + 300 * place, keyFrameSize: 6_000, from: pair.now)
      for _ in 0..<place * 1_000 { _ = source.next(.zero) }
      source.needsKeyFrame = true
      source.nextTime = pair.now
      pair[video.side].sources[video.id] = source
    }
    for (place, sound) in sounds.enumerated() {
      pair[sound.side].audioSources[sound.id] = SyntheticAudio(packetSize: 60 + 10 * place, from: pair.now)
    }
    pair.run(for: .seconds(10))
    for (place, video) in videos.enumerated() {
      let chain = pair.chain(of: video.id, on: video.side)
      #expect(chain.isSound, "\(place)")
      #expect(chain.numbers.allSatisfy { $0 / 1_000 == UInt64(place) })
      #expect(chain.numbers.count > (loss < 0.2 ? 150 : 60), "\(place): \(chain.numbers.count)")
    }
    for (place, sound) in sounds.enumerated() {
      let id = try #require(pair.counterpart(of: sound.id, on: sound.side))
      let packets = pair[sound.side.other].audio(of: id)
      #expect(packets.allSatisfy { $0.payload.count == 60 + 10 * place })
      #expect(Double(packets.count) > 500 * (1 - loss) - 40 && packets.count <= 500, "\(place): \(packets.count)")
    }
  }

  @Test func `the bitrate is shared out equally, and what the far side does not want of one goes to the others`() throws
  {
    let pair = try PeerPair.inCall {
      $0.rewrite = { _, text in text }
    }
    for name in ["a", "b", "c"] { pair.addTrack(.video, name, on: .offerer) }
    pair.run(for: .seconds(1))
    let rates = Dictionary(
      pair.offerer.events.compactMap { _, event -> (TransceiverID, Int64)? in
        if case .targetBitrateChanged(let rate, let id) = event { (id, rate.bitsPerSecond) } else { nil }
      }, uniquingKeysWith: { $1 })
    #expect(rates.count == 3)
    let whole = pair.offerer.peer.statistics.targetBitrate.bitsPerSecond
    #expect(rates.values.allSatisfy { abs($0 - whole / 3) <= 1 })
  }

  @Test func `pictures of one video wait for no whole picture of another`() throws {
    let pair = try PeerPair.inCall()
    let large = pair.addTrack(.video, "large", on: .offerer)
    let small = pair.addTrack(.video, "small", on: .offerer)
    pair.run(for: .seconds(1))
    pair.offerer.followsTargetBitrate = false
    pair.offerer.sources[large] = SyntheticVideo(keyFrameSize: 900_000, from: pair.now)
    pair.offerer.sources[small] = SyntheticVideo(keyFrameSize: 2_000, from: pair.now + .milliseconds(1))
    let start = pair.now
    pair.run(for: .seconds(3))
    let id = try #require(pair.counterpart(of: small, on: .offerer))
    let first = try #require(pair.answerer.frames(of: id).first)
    #expect(first.received - start < .milliseconds(60))
    #expect(pair.chain(of: large, on: .offerer).isSound)
  }
}
