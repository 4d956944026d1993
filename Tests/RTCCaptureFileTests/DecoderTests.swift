import FeatureKit
import RTCCaptureFile
import RTCCodecVPX
import RTCMedia
import Testing

@Suite struct Decoders {
  @Test(.feature("S4.13", "S4.14"), arguments: VideoCodec.allCases) func `every picture is what ffmpeg makes of it`(
    _ codec: VideoCodec
  ) throws {
    let clip = try CodedClip(codec)
    try #require(clip.pictures.count == 30 && clip.sums.count == 30)
    for decoder in try CodedClip.decoders(for: codec) {
      var kept: [PixelBuffer] = []
      for (index, data) in clip.pictures.enumerated() {
        let picture = try #require(try decoder.decode(data), "picture \(index) is late or missing")
        #expect(picture.size == PixelSize(width: 160, height: 120) && picture.format == .i420)
        #expect(CodedClip.sum(picture) == clip.sums[index], "\(type(of: decoder)) \(index)")
        if index < 5 { kept.append(picture) }
      }
      // Pictures that are kept stay what they were, whatever was decoded since.
      #expect(kept.map(CodedClip.sum) == Array(clip.sums.prefix(5)))
    }
  }

  @Test(arguments: [VideoCodec.vp9, .h264, .av1]) func `pictures with all their colours`(_ codec: VideoCodec) throws {
    let clip = try CodedClip(codec, frames: 6, format: "yuv444p")
    for decoder in try CodedClip.decoders(for: codec) {
      for (index, data) in clip.pictures.enumerated() {
        let picture = try #require(try decoder.decode(data))
        #expect(picture.format == .i444 && CodedClip.sum(picture) == clip.sums[index])
      }
    }
  }

  @Test(arguments: VideoCodec.allCases) func `odd sizes, and another size from one key frame to the next`(
    _ codec: VideoCodec
  ) throws {
    let format = codec == .h264 ? "yuv444p" : "yuv420p"
    let small = try CodedClip(codec, source: "testsrc=size=75x53:rate=25", frames: 3, format: format)
    let large = try CodedClip(codec, source: "testsrc=size=321x203:rate=25", frames: 3, format: format)
    for decoder in try CodedClip.decoders(for: codec) {
      for clip in [small, large, small] {
        for (index, data) in clip.pictures.enumerated() {
          let picture = try #require(try decoder.decode(data))
          #expect(CodedClip.sum(picture) == clip.sums[index])
        }
      }
    }
  }

  @Test(arguments: VideoCodec.allCases) func `pictures outlive their decoder`(_ codec: VideoCodec) throws {
    let clip = try CodedClip(codec, frames: 4)
    for index in try CodedClip.decoders(for: codec).indices {
      var pictures: [PixelBuffer] = []
      do {
        let decoder = try CodedClip.decoders(for: codec)[index]
        for data in clip.pictures { if let picture = try decoder.decode(data) { pictures.append(picture) } }
      }
      #expect(pictures.map(CodedClip.sum) == clip.sums)
    }
  }

  @Test(arguments: [VideoCodec.vp9, .h264, .av1]) func `a matrix that the bitstream names is passed on`(
    _ codec: VideoCodec
  ) throws {
    let said = try CodedClip(codec, frames: 2, options: "-colorspace bt709 -color_range tv")
    let unsaid = try CodedClip(codec, frames: 2)
    for decoder in try CodedClip.decoders(for: codec) {
      _ = try decoder.decode(said.keyFrame)
      #expect(decoder.colorSpace == .bt709Limited, "\(type(of: decoder))")
    }
    // A new one, since FFmpeg's of H.264 takes what is not said for unchanged.
    for decoder in try CodedClip.decoders(for: codec) {
      _ = try decoder.decode(unsaid.keyFrame)
      #expect(decoder.colorSpace == nil, "\(type(of: decoder))")
    }
  }
}
