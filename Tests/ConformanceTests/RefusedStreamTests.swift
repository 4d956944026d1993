import RTCCodecFFmpeg
import RTCCodecVPX
import RTCMedia
import RTCWire
import Testing

/// Streams in profiles that we do not offer.
@Suite struct RefusedStreamTests {
  private static let live = "--rt --cpu-used=7 --lag-in-frames=0 --passes=1"

  private static let refusedByVP9 = [
    Coding(.vp9, "profile 1, 4:2:2", live + " --profile=1", scene: Scene(chroma: .half, frames: 3)),
    Coding(.vp9, "profile 1, RGB", live + " --profile=1 --color-space=sRGB", scene: Scene(chroma: .full, frames: 3)),
    Coding(
      .vp9, "profile 2, 10 bits", live + " --profile=2 --bit-depth=10 --input-bit-depth=10",
      scene: Scene(bitDepth: 10, frames: 3)),
    Coding(
      .vp9, "profile 3, 10 bits, 4:4:4", live + " --profile=3 --bit-depth=10 --input-bit-depth=10",
      scene: Scene(chroma: .full, bitDepth: 10, frames: 3)),
  ]

  @Test(arguments: refusedByVP9)
  func `VP9 in a profile that is not shown is the sender's fault, and the next key frame is decoded`(
    _ coding: Coding
  ) throws {
    let stream = try ReferenceStream(coding)
    let good = try ReferenceStream(Coding(.vp9, "live", Self.live, scene: Scene(frames: 3)))
    let decoder = try VP9Decoder()
    for _ in 0..<2 {
      for frame in VideoLine.carry(stream, over: .perfect) {
        let error = #expect(throws: VideoDecoderError.self) { try decoder.decode(frame.data) }
        guard frame.isKeyFrame else { continue }
        guard case .unsupportedPicture(let text)? = error else {
          Issue.record("\(String(describing: error))")
          continue
        }
        #expect(text.contains("sender"))
      }
      #expect(try ReferenceDecoderTests.pictures(of: good, by: decoder) == good.frames.map(\.picture))
    }
  }

  private static let converted = [
    Coding(.h264, "high 10", "--bframes 0", scene: Scene(bitDepth: 10, frames: 3)),
    Coding(.h264, "high 4:2:2", "--bframes 0", scene: Scene(chroma: .half, frames: 3)),
    Coding(
      .av1, "10 bits", live.replacing(" --passes=1", with: "") + " --bit-depth=10 --input-bit-depth=10",
      scene: Scene(bitDepth: 10, frames: 3)),
    Coding(
      .av1, "professional, 4:2:2", live.replacing(" --passes=1", with: "") + " --profile=2",
      scene: Scene(chroma: .half, frames: 3)),
  ]

  @Test(arguments: converted)
  func `what FFmpeg decodes beyond the profiles that we offer is shown in 8 bits and 4:2:0`(_ coding: Coding) throws {
    let stream = try ReferenceStream(coding)
    let decoder = try FFmpegVideoDecoder(coding.codec)
    for frame in VideoLine.carry(stream, over: .perfect) {
      let picture = try #require(try decoder.decode(frame.data))
      #expect(picture.size == coding.scene.size && picture.format == .i420)
    }
  }

  @Test func `a picture of H.264 of which a part is missing or cut is refused, and the next key frame is decoded`()
    throws
  {
    let options = "--bframes 0 --slices 4 --keyint infinite --qp 20"
    let stream = try ReferenceStream(Coding(.h264, "slices", options, scene: Scene(frames: 3)))
    for decoder in try ReferenceStream.decoders(for: .h264) {
      let data = stream.frames[1].data
      let units = H264ByteStream.units(in: data.span) ?? []
      try #require(units.count == 4)
      for missing in 0..<4 {
        for kept in [0, 20] {
          let parts = units.indices.map { data[units[$0]].prefix($0 == missing ? kept : .max) }
          let damaged = parts.flatMap { $0.isEmpty ? [] : [0, 0, 0, 1] + $0 }
          #expect(try decoder.decode(stream.frames[0].data).map(CodedPicture.init) == stream.frames[0].picture)
          #expect(throws: VideoDecoderError.self, "slice \(missing), \(kept) bytes") { try decoder.decode(damaged) }
          #expect(throws: VideoDecoderError.self) { try decoder.decode(stream.frames[2].data) }
        }
      }
      #expect(try ReferenceDecoderTests.pictures(of: stream, by: decoder) == stream.frames.map(\.picture))
    }
  }
}
