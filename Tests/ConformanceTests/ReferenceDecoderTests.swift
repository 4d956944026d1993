import FeatureKit
import RTCCodecVPX
import RTCMedia
import Testing

/// Streams of the reference encoders' tools are packetized, sent, reassembled and decoded by our code, and compared
/// with the output of the reference decoders' tools.
@Suite struct ReferenceDecoderTests {
  /// The pictures that `decoder` makes of the received frames, by frame number.
  static func pictures(
    of stream: ReferenceStream, over network: VideoLine.Network = .perfect, by decoder: any VideoDecoder
  ) throws -> [CodedPicture?] {
    let frames = VideoLine.carry(stream, over: network)
    try #require(frames.map(VideoLine.number) == Array(stream.frames.indices))
    #expect(frames.map(\.isKeyFrame) == stream.frames.map(\.isKeyFrame))
    return try frames.map { try decoder.decode($0.data).map(CodedPicture.init) }
  }

  @Test(.feature("S4.13", "S4.14"), arguments: Coding.taken)
  func `every picture is bit for bit what the reference decoder makes of it, whatever the way did`(
    _ coding: Coding
  ) throws {
    let stream = try ReferenceStream(coding)
    try #require(stream.frames.count >= coding.scene.frames)
    try #require(stream.frames.count { $0.picture != nil } == coding.scene.frames)
    // Tools of another version may make something else of their options.
    try #require(stream.hasHiddenFrames || !coding.name.contains("hidden"))
    let expected = stream.frames.map(\.picture)
    for decoder in try ReferenceStream.decoders(for: coding.codec) {
      #expect(try Self.pictures(of: stream, by: decoder) == expected)
    }
    for network in [VideoLine.Network.reordered, .repaired] {
      let decoder = try ReferenceStream.decoders(for: coding.codec)[0]
      #expect(try Self.pictures(of: stream, over: network, by: decoder) == expected, "\(network)")
    }
  }

  @Test func `frames of VP9 that are predicted from others of another size`() throws {
    let stream = try ReferenceStream(.resizedVP9)
    #expect(stream.frames.dropFirst().allSatisfy { !$0.isKeyFrame })
    #expect(Set(stream.frames.compactMap(\.picture?.size)).count > 1)
    #expect(try Self.pictures(of: stream, by: VP9Decoder()) == stream.frames.map(\.picture))
  }

  @Test
  func `pictures predicted from both sides, which no call has, come in the order in which they are seen, and late`()
    throws
  {
    let stream = try ReferenceStream(
      Coding(.h264, "B frames", "--bframes 2 --b-adapt 0 --b-pyramid none --keyint infinite", scene: Scene(frames: 12)))
    for network in VideoLine.Network.allCases {
      let decoder = try ReferenceStream.decoders(for: .h264)[0]
      let pictures = try Self.pictures(of: stream, over: network, by: decoder).compactMap { $0 }
      #expect(pictures.count >= 10 && pictures == stream.frames.compactMap(\.picture).prefix(pictures.count).map { $0 })
    }
  }

  @Test func `behind pictures that wait for others come those that do not, each at once`() throws {
    let late = try ReferenceStream(
      Coding(.h264, "B frames", "--bframes 2 --b-adapt 0 --b-pyramid none", scene: Scene(frames: 8)))
    let live = try ReferenceStream(Coding(.h264, "live", "--bframes 0", scene: Scene(frames: 5)))
    let decoder = try ReferenceStream.decoders(for: .h264)[0]
    for frame in late.frames { _ = try decoder.decode(frame.data) }
    #expect(try Self.pictures(of: live, by: decoder) == live.frames.map(\.picture))
  }
}
