import RTCEngine
import RTCMedia
import RTCPrimitives
import Testing

/// Networks that lose, mix up, double and damage packets, where nothing is sent again.
@Suite struct RandomLossTests {
  /// One stream of each codec: with many key frames and, if the codec has them, hidden frames that others need.
  private static let streams = VideoCodec.allCases.reduce(into: [VideoCodec: Result<ReferenceStream, any Error>]()) {
    streams, codec in streams[codec] = Result { try makeStream(codec) }
  }

  private static func makeStream(_ codec: VideoCodec) throws -> ReferenceStream {
    var scene = Scene(frames: 40)
    let options: String
    switch codec {
    case .vp8:
      // Its encoder hides no frame where key frames are close: one stream after the other.
      options = "--good --cpu-used=2 --auto-alt-ref=1 --lag-in-frames=12 --passes=2"
      scene = Scene(size: PixelSize(width: 99, height: 67), frames: 24)
    case .vp9:
      options = "--good --cpu-used=5 --auto-alt-ref=1 --lag-in-frames=8 --passes=2 --target-bitrate=900 --kf-max-dist=7"
    case .av1: options = "--good --cpu-used=6 --lag-in-frames=8 --kf-max-dist=7 --target-bitrate=900"
    case .h264: options = "--bframes 0 --keyint 7 --qp 18 --slices 2 --ref 3"
    }
    var stream = try ReferenceStream(Coding(codec, "often from anew", options, scene: scene))
    if codec == .vp8 { stream.frames = Array(repeatElement(stream.frames, count: 4).joined()) }
    return stream
  }

  /// The packets that come, in their order: all of the last frame's, so that it is known what is missing before.
  static func arrivals(of frames: [[[UInt8]]], _ random: inout SeededGenerator) -> [[UInt8]] {
    let loss = [0, 0.02, 0.05, 0.1, 0.2][Int(random.next() % 5)]
    let spread = 12 * random.nextUnit()
    var underway: [(due: Double, packet: [UInt8])] = []
    for packet in frames.dropLast().joined() {
      let place = Double(underway.count)
      for _ in 0..<(random.nextUnit() < 0.05 ? 2 : 1) where random.nextUnit() >= loss {
        underway.append((place + spread * random.nextUnit(), packet))
      }
    }
    return underway.sorted { $0.due < $1.due }.map(\.packet) + (frames.last ?? [])
  }

  /// The result of receiving the packets in this order.
  static func receive(_ packets: [[UInt8]], _ codec: VideoCodec) -> VideoLine {
    var line = VideoLine(codec)
    for (index, packet) in packets.enumerated() {
      line.receive(packet)
      if index % 4 == 3 { line.giveUp(after: .milliseconds(4)) }
    }
    line.giveUp(after: .seconds(2))
    return line
  }

  @Test(arguments: VideoCodec.allCases)
  func `what is shown is bit for bit what was sent, nothing needs what is missing, and a key frame is asked for`(
    _ codec: VideoCodec
  ) throws {
    let stream = try #require(Self.streams[codec]).get()
    try #require(stream.frames.count { $0.isKeyFrame } >= 4 && stream.hasHiddenFrames == (codec != .h264))
    var sender = VideoLine(codec)
    let packets = stream.frames.indices.map { sender.packets(of: stream.frames[$0], number: $0) }
    var (shown, gaps, waits) = (0, 0, 0)
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let line = Self.receive(Self.arrivals(of: packets, &random), codec)
      let decoder = try ReferenceStream.decoders(for: codec)[0]
      var last = -1
      for frame in line.frames {
        let number = VideoLine.number(of: frame)
        try #require(number == last + 1 || number > last && stream.frames[number].isKeyFrame, "seed \(seed)")
        let picture = try decoder.decode(frame.data).map(CodedPicture.init)
        try #require(picture == stream.frames[number].picture, "seed \(seed), frame \(number)")
        gaps += number == last + 1 ? 0 : 1
        last = number
      }
      shown += line.frames.count
      guard last < stream.frames.count - 1 else { continue }
      waits += 1
      let wanted = try #require(line.receiver?.keyFrameWantedAt, "seed \(seed)")
      #expect(wanted <= line.now)
    }
    #expect(shown > 400 && gaps > 20 && waits > 5, "\(shown) shown, \(gaps) gaps, \(waits) waits")
  }

  @Test(arguments: VideoCodec.allCases)
  func `payloads of any content end no program, and what comes whole after a key frame is bit for bit what was sent`(
    _ codec: VideoCodec
  ) throws {
    let stream = try #require(Self.streams[codec]).get()
    let lastKeyFrame = try #require(stream.frames.lastIndex { $0.isKeyFrame })
    for seed in 1...20 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      var line = VideoLine(codec)
      var sender = VideoLine(codec)
      for (number, frame) in stream.frames.enumerated() {
        for packet in sender.packets(of: frame, number: number) {
          line.receive(number < lastKeyFrame && random.nextUnit() < 0.1 ? Self.damaged(packet, &random) : packet)
        }
        line.giveUp(after: .milliseconds(50))
      }
      let decoder = try ReferenceStream.decoders(for: codec)[0]
      var exact = 0
      for frame in line.frames {
        let picture = (try? decoder.decode(frame.data)).flatMap { $0 }
        let number = VideoLine.number(of: frame)
        guard number > lastKeyFrame else { continue }
        #expect(picture.map(CodedPicture.init) == stream.frames[number].picture, "seed \(seed), frame \(number)")
        exact += 1
      }
      #expect(exact == stream.frames.count - 1 - lastKeyFrame, "seed \(seed)")
    }
  }

  /// Another payload behind the same header, often with the start of the one before.
  private static func damaged(_ packet: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
    var packet = packet
    let header = 12
    switch random.next() % 3 {
    case 0: packet.removeLast(Int(random.next() % UInt64(packet.count - header)))
    case 1:
      for _ in 0..<4 {
        packet[header + Int(random.next() % UInt64(min(6, packet.count - header)))] = UInt8(
          truncatingIfNeeded: random.next())
      }
    default:
      for index in header..<packet.count where random.nextUnit() < 0.05 {
        packet[index] = UInt8(truncatingIfNeeded: random.next())
      }
    }
    return packet
  }
}
