import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCWire
import Testing

/// Streams in temporal layers, by libvpx through the `ffmpeg` program, as other senders cut them into packets: what is lost
/// of an upper layer costs those frames only that need it.
@Suite struct LayeredStreamTests {
  /// How the packets say what a frame needs.
  enum Format: CaseIterable {
    /// TID, Y and TL0PICIDX (RFC 7741 §4.2).
    case vp8
    /// TID and TL0PICIDX (RFC 9628 §4.2), and U, which says nothing of the frame itself, with each, as libwebrtc has it.
    case vp9
    /// The differences of picture numbers (RFC 9628 §4.2, flexible mode).
    case vp9Flexible

    var codec: VideoCodec { self == .vp8 ? .vp8 : .vp9 }
  }

  /// One of a period of frames.
  private struct Place {
    var layer: UInt8
    /// It needs frames of the base layer only.
    var isSync = false
    /// How far before it the frames lie that it needs.
    var differences: [UInt8]
  }

  private static let twoLayers = [Place(layer: 0, differences: [2]), Place(layer: 1, isSync: true, differences: [1])]
  private static let threeLayers = [
    Place(layer: 0, differences: [4]), Place(layer: 2, isSync: true, differences: [1]),
    Place(layer: 1, isSync: true, differences: [2]), Place(layer: 2, differences: [1, 3]),
  ]

  private static func stream(_ codec: VideoCodec, _ places: [Place]) throws -> ReferenceStream {
    let parameters =
      places.count == 2
      ? "ts_number_layers=2:ts_target_bitrate=400,700:ts_rate_decimator=2,1:ts_periodicity=2:ts_layer_id=0,1"
        + ":ts_layering_mode=2"
      : "ts_number_layers=3:ts_target_bitrate=300,450,700:ts_rate_decimator=4,2,1:ts_periodicity=4"
        + ":ts_layer_id=0,2,1,2:ts_layering_mode=3"
    let encoder = codec == .vp8 ? "libvpx" : "libvpx-vp9"
    return try ReferenceStream(
      codec, scene: Scene(frames: 48),
      command: "ffmpeg -v error -nostdin -i scene.y4m -c:v \(encoder) -deadline realtime -cpu-used 6 -lag-in-frames 0 "
        + "-error-resilient 1 -g 16 -b:v 700k -minrate 700k -maxrate 700k -ts-parameters '\(parameters)' -f ivf coded")
  }

  /// The packet with what `format` says of its frame in place of our own descriptor, which knows no layers.
  private static func layered(
    _ packet: [UInt8], _ format: Format, _ place: Place, number: Int, base: UInt8, isKeyFrame: Bool
  ) -> [UInt8] {
    guard let header = RTPHeader(parsing: packet.span) else { return packet }
    var reader = ByteReader(packet.span.extracting(header.payload))
    var descriptor: [UInt8]
    let picture = UInt16(number) & 0x7FFF
    switch format {
    case .vp8:
      guard let own = VP8PayloadDescriptor(parsing: &reader) else { return packet }
      // X, S; I, L, T; the number; TL0PICIDX; TID, Y.
      descriptor = [own.startsFrame ? 0x90 : 0x80, 0xE0, 0x80 | UInt8(picture >> 8), UInt8(picture & 0xFF), base]
      descriptor.append(place.layer << 6 | (place.isSync ? 0x20 : 0))
    case .vp9, .vp9Flexible:
      guard let own = VP9PayloadDescriptor(parsing: &reader) else { return packet }
      // I, P, L, F, B, E; the number; TID, U.
      let first: UInt8 = 0xA0 | (isKeyFrame ? 0 : 0x40) | (own.startsFrame ? 8 : 0) | (own.endsFrame ? 4 : 0)
      descriptor = [first, 0x80 | UInt8(picture >> 8), UInt8(picture & 0xFF)]
      descriptor.append(place.layer << 5 | 0x10)
      if format == .vp9 {
        descriptor.append(base)
      } else {
        descriptor[0] |= 0x10
        guard !isKeyFrame else { break }
        for (index, difference) in place.differences.enumerated() {
          descriptor.append(difference << 1 | (index + 1 < place.differences.count ? 1 : 0))
        }
      }
    }
    return packet[..<header.payload.lowerBound] + descriptor
      + packet[(header.payload.lowerBound + reader.offset)..<header.payload.upperBound]
  }

  private static func packets(of stream: ReferenceStream, _ format: Format, _ places: [Place]) -> [[[UInt8]]] {
    var sender = VideoLine(stream.codec)
    var base: UInt8 = 0xF8
    return stream.frames.indices.map { number in
      let (frame, place) = (stream.frames[number], places[number % places.count])
      if place.layer == 0 { base &+= 1 }
      return sender.packets(of: frame, number: number).map {
        layered($0, format, place, number: number, base: base, isKeyFrame: frame.isKeyFrame)
      }
    }
  }

  @Test(arguments: Format.allCases, [2, 3])
  func `a frame that needs nothing of what is lost is shown without a key frame, bit for bit`(
    _ format: Format, _ layers: Int
  ) throws {
    let places = layers == 2 ? Self.twoLayers : Self.threeLayers
    let stream = try Self.stream(format.codec, places)
    let keyFrames = stream.frames.indices.filter { stream.frames[$0].isKeyFrame }
    try #require(keyFrames.allSatisfy { $0 % places.count == 0 } && stream.frames.count == 48)
    let packets = Self.packets(of: stream, format, places)
    var (shown, spared) = (0, 0)
    for seed in 1...25 as ClosedRange<UInt64> {
      var random = SeededGenerator(seed: seed)
      let line = RandomLossTests.receive(RandomLossTests.arrivals(of: packets, &random), format.codec)
      let decoder = try ReferenceStream.decoders(for: format.codec)[0]
      var last = -1
      for frame in line.frames {
        let number = VideoLine.number(of: frame)
        try #require(number > last)
        let picture = try decoder.decode(frame.data).map(CodedPicture.init)
        try #require(picture == stream.frames[number].picture, "seed \(seed), frame \(number) after \(last)")
        spared += number == last + 1 || stream.frames[number].isKeyFrame ? 0 : 1
        last = number
      }
      shown += line.frames.count
    }

    #expect(shown > 300 && spared > 4, "\(shown) shown, \(spared) gaps without a key frame")
  }
}
