import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

@Suite struct Codecs {
  private static let all = [
    VideoPayloadFormat.vp8, VideoPayloadFormat(codec: .h264, parameters: "profile-level-id=42e01f"),
    VideoPayloadFormat(codec: .vp9), VideoPayloadFormat(codec: .av1),
  ]

  private func options(
    sending: [VideoPayloadFormat] = all, receiving: [VideoPayloadFormat] = all, seed: UInt64 = 1
  ) -> PeerPair.Options {
    var options = PeerPair.Options()
    options.seed = seed
    options.configure = { _, configuration in
      configuration.sendsVideo?.codecs = sending
      configuration.receivableVideo = receiving
    }
    return options
  }

  private func connected(_ options: PeerPair.Options, loss: Double = 0) throws -> PeerPair {
    var options = options
    let configure = options.configure
    options.configure = { side, configuration in
      configure(side, &configuration)
      configuration.usesForwardErrorCorrection = false
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = loss
    pair.recordsDepartures = true
    return pair
  }

  @Test(arguments: VideoCodec.allCases, [0, 0.05]) func `frames of every codec arrive as they left, whatever the loss`(
    _ codec: VideoCodec, _ loss: Double
  ) throws {
    let pair = try connected(options(), loss: loss)
    var source = SyntheticVideo(from: pair.now)
    source.codec = codec
    pair.sender.source = source
    pair.run(for: .seconds(10))
    pair.sender.source?.nextTime = .distantFuture
    pair.run(for: .seconds(1))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.numbers.count >= 245, "\(chain.numbers.count) \(chain.damaged)")
    #expect(pair.receiver.frames.allSatisfy { $0.codec == codec })
    let statistics = pair.sender.peer.statistics.video
    #expect(loss == 0 ? statistics.packetsRetransmitted == 0 : statistics.packetsRetransmitted > 10)
    // One payload type of the codec and, with loss, that of its retransmissions.
    let headers = pair.departures.compactMap(\.header)
    #expect(Set(headers.map(\.payloadType)).count == (loss == 0 ? 1 : 2))
    #expect(headers.count(where: \.marker) >= Int(statistics.framesSent))
  }

  @Test(arguments: VideoCodec.allCases) func `packets keep to the size that passes everywhere`(_ codec: VideoCodec)
    throws
  {
    let pair = try connected(options(), loss: 0.02)
    var source = SyntheticVideo(frameSize: 3_000, keyFrameSize: 15_000, from: pair.now)
    source.codec = codec
    source.colorSpace = .bt709Limited
    pair.sender.source = source
    pair.run(for: .seconds(2))
    let sizes = pair.departures.filter { $0.kind == .rtp }.map(\.bytes.count)
    #expect(sizes.max()! <= VideoPacketHeaders.maximumPacketSize && sizes.max()! > 900)
  }

  @Test(arguments: VideoCodec.allCases) func `the last packet of a picture, lost before a pause, comes again unasked`(
    _ codec: VideoCodec
  ) throws {
    let pair = try connected(options())
    var source = SyntheticVideo(from: pair.now)
    source.codec = codec
    pair.sender.source = source
    pair.run(for: .seconds(1))
    pair.network[pair.mediaDirection] = .broken
    let count = pair.sender.peer.statistics.video.framesSent
    pair.run(for: .seconds(1)) { $0.sender.peer.statistics.video.framesSent > count }
    pair.sender.source = nil
    pair.network[pair.mediaDirection] = .delayed(.milliseconds(20))
    pair.run(for: .seconds(1))
    #expect(FrameChain(pair.receiver.frames).numbers.last == UInt64(pair.sender.peer.statistics.video.framesSent) - 1)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  @Test(arguments: [0, 0.05]) func `the codec changes in the middle of the stream, at a key frame, and nothing is lost`(
    _ loss: Double
  ) throws {
    let pair = try connected(options(), loss: loss)
    pair.sender.source = SyntheticVideo(from: pair.now)
    for codec in [VideoCodec.h264, .av1, .vp9, .vp8, .h264] {
      pair.run(for: .seconds(2))
      pair.sender.source?.codec = codec
      pair.sender.source?.rendition = Rendition(UInt32(codec == .vp8 ? 0 : 1))
      pair.sender.source?.needsKeyFrame = true
    }
    pair.run(for: .seconds(2))
    pair.sender.source?.nextTime = .distantFuture
    pair.run(for: .seconds(1))
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound && chain.keyFrames >= 6 && chain.numbers.count >= 295)
    #expect(Set(pair.receiver.frames.map(\.codec)).count == 4)
  }

  @Test func `frames of a codec that the far side does not know are left out, and no key frame is asked for`() throws {
    let pair = try connected(options(receiving: [.vp8]))
    #expect(pair.sender.peer.statistics.videoFormats == [.vp8])
    pair.sender.source = SyntheticVideo(from: pair.now)
    pair.run(for: .seconds(1))
    let (sent, asked) = (pair.sender.peer.statistics.video.framesSent, pair.sender.keyFrameRequests.count)
    pair.sender.source?.codec = .vp9
    pair.sender.source?.needsKeyFrame = true
    pair.run(for: .seconds(1))
    #expect(pair.sender.peer.statistics.video.framesSent <= sent + 1)
    #expect(pair.sender.peer.statistics.video.framesSkipped >= 24)
    #expect(pair.sender.keyFrameRequests.count == asked)
  }

  @Test func `bytes that are no frame of their codec are left out, and the next key frame goes out`() throws {
    let pair = try connected(options())
    for codec in [VideoCodec.h264, .av1] {
      var source = SyntheticVideo(from: pair.now)
      source.codec = codec
      var broken = source.next(pair.now)
      broken.data = [0xFF, 0xFF, 0xFF]
      pair.send(broken, from: .offerer)
      source.needsKeyFrame = true
      pair.send(source.next(pair.now), from: .offerer)
      pair.run(for: .milliseconds(200))
      #expect(pair.receiver.frames.last?.codec == codec)
    }
    #expect(pair.sender.peer.statistics.video.framesSkipped == 2)
  }

  @Test(arguments: VideoCodec.allCases)
  func `a key frame in HD of every codec needs little more packets than its bytes`(_ codec: VideoCodec) throws {
    let pair = try connected(options())
    var source = SyntheticVideo(frameSize: 1_000, keyFrameSize: 16_000, from: pair.now)
    source.codec = codec
    pair.send(source.next(pair.now), from: .offerer)
    pair.run(for: .seconds(1))
    let first = pair.departures.first { $0.kind == .rtp }?.header
    // Without what probes the path.
    let media = pair.departures.filter { $0.header?.ssrc == first?.ssrc }
    #expect(media.count <= (codec == .h264 ? 17 : 15), "\(media.count)")
    #expect(FrameChain(pair.receiver.frames).numbers.count == 1)
  }
}
