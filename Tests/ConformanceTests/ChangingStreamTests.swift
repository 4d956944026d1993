import RTCMedia
import RTCPrimitives
import RTCWire
import Testing

/// Streams whose sequence headers change.
@Suite struct ChangingStreamTests {
  /// The codec's streams in several sizes and, where the codec has them, samplings of colour.
  private static func streams(_ codec: VideoCodec) throws -> [ReferenceStream] {
    let options =
      switch codec {
      case .vp8, .vp9: "--rt --cpu-used=7 --lag-in-frames=0 --passes=1"
      case .av1: "--rt --cpu-used=8 --lag-in-frames=0"
      case .h264: "--bframes 0"
      }
    let full = codec == .h264 ? "" : " --profile=1"
    var codings = [Coding(codec, "small", options, scene: Scene(frames: 5))]
    codings.append(
      Coding(codec, "large", options, scene: Scene(size: PixelSize(width: 246, height: 134), frames: 5)))
    if codec != .vp8 {
      codings.append(Coding(codec, "full", options + full, scene: Scene(chroma: .full, frames: 5)))
    }
    codings.append(Coding(codec, "flat", options, scene: Scene(size: PixelSize(width: 190, height: 30), frames: 5)))
    return try codings.map { try ReferenceStream($0) }
  }

  @Test(arguments: VideoCodec.allCases)
  func `another size or sampling of colour from one key frame to the next`(_ codec: VideoCodec) throws {
    let streams = try Self.streams(codec)
    let all = ReferenceStream(codec: codec, frames: (streams + streams.reversed()).flatMap(\.frames))
    for network in VideoLine.Network.allCases {
      let decoder = try ReferenceStream.decoders(for: codec)[0]
      let pictures = try ReferenceDecoderTests.pictures(of: all, over: network, by: decoder)
      #expect(pictures == all.frames.map(\.picture), "\(network)")
    }
  }

  /// The headers with the picture size, before a frame of another stream.
  private static func header(of stream: ReferenceStream) -> [UInt8] {
    let data = stream.frames[0].data
    switch stream.codec {
    case .vp8, .vp9: return []
    case .h264:
      let units = (H264ByteStream.units(in: data.span) ?? []).filter {
        H264NALUnitHeader.Kind(rawValue: data[$0.lowerBound]).isParameterSet
      }
      return units.flatMap { [0, 0, 0, 1] + data[$0] }
    case .av1:
      let unit = (AV1OBU.units(in: data.span) ?? []).first { $0.header.kind == .sequenceHeader }
      return unit.map { unit in
        var bytes: [UInt8] = []
        bytes.append(unit.sizedHeader)
        return bytes + data[unit.payload]
      } ?? []
    }
  }

  @Test(arguments: VideoCodec.allCases)
  func
    `a sequence header that changes without a key frame is refused or of no effect, and the next key frame is decoded`(
      _ codec: VideoCodec
    ) throws
  {
    let streams = try Self.streams(codec)
    let stream = streams[0]
    for decoder in try ReferenceStream.decoders(for: codec) {
      for other in streams.dropFirst() {
        for place in 1..<4 {
          for frame in stream.frames[..<place] {
            #expect(try decoder.decode(frame.data).map(CodedPicture.init) == frame.picture)
          }
          // Of AV1 also as a frame that claims to begin a sequence; of VP8 and VP9 frames of the other stream.
          let change = Self.header(of: other)
          let odd = change.isEmpty ? other.frames[place].data : change + stream.frames[place].data
          let shown = try? decoder.decode(odd)
          #expect(shown == nil || [stream, other].contains { $0.frames[0].picture?.size == shown?.size })
          _ = try? decoder.decode(stream.frames[place + 1].data)
          // Twice: of what was odd, something may only be over with the next key frame.
          for _ in 0..<2 { _ = try? decoder.decode(stream.frames[0].data) }
          for frame in stream.frames { #expect(try decoder.decode(frame.data).map(CodedPicture.init) == frame.picture) }
        }
      }
    }
  }
}
