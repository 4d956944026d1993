import Glibc
import RTCCaptureFile
import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import Testing

@Suite(.serialized) struct DecoderRefusals {
  private func isRefused(_ data: [UInt8], by decoder: any VideoDecoder) -> Bool {
    do { return try decoder.decode(data) == nil } catch { return true }
  }

  @Test(arguments: VideoCodec.allCases) func `after rubbish of any kind a key frame is decoded as if nothing had been`(
    _ codec: VideoCodec
  ) throws {
    let clip = try CodedClip(codec, frames: 8)
    let others = try VideoCodec.allCases.filter { $0 != codec }.map { try CodedClip($0, frames: 2).pictures }
    var random = SeededGenerator(seed: 17)
    for decoder in try CodedClip.decoders(for: codec) {
      for round in 0..<150 {
        var data = clip.pictures[round % clip.pictures.count]
        switch round % 5 {
        case 0: data = (0..<Int(random.next() % 600)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1: data = Array(data.prefix(Int(random.next() % UInt64(data.count))))
        case 2:
          for _ in 0..<8 {
            data[Int(random.next() % UInt64(data.count))] ^= UInt8(truncatingIfNeeded: random.next() | 1)
          }
        case 3: data = others[round % others.count][round % 2]
        default: data += (0..<64).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        }
        _ = try? decoder.decode(data)
        if round % 10 == 9 {
          // Twice, since some rubbish is a picture of another kind that is only over with the next key frame.
          _ = try? decoder.decode(clip.keyFrame)
          let picture = try #require(try decoder.decode(clip.keyFrame), "\(type(of: decoder)) round \(round)")
          #expect(CodedClip.sum(picture) == clip.sums[0])
        }
      }
    }
  }

  @Test(arguments: VideoCodec.allCases) func `nothing is decoded before a key frame, nor after an error`(
    _ codec: VideoCodec
  ) throws {
    let clip = try CodedClip(codec, frames: 8)
    for decoder in try CodedClip.decoders(for: codec) {
      #expect(isRefused(clip.pictures[3], by: decoder))
      #expect(isRefused([], by: decoder))
      _ = try #require(try decoder.decode(clip.keyFrame))
      #expect(isRefused([], by: decoder))
      #expect(isRefused(clip.pictures[1], by: decoder), "\(type(of: decoder))")
      _ = try #require(try decoder.decode(clip.keyFrame))
      _ = try #require(try decoder.decode(clip.pictures[1]))
    }
  }

  @Test func `a header that asks for a picture of gigabytes gets an error and no memory`() throws {
    let before = peakMemory
    // VP8: 16383×16383. VP9, profile 0: 65536×65536.
    let vp8: [UInt8] = [0x10, 0x02, 0x00, 0x9D, 0x01, 0x2A, 0xFF, 0x3F, 0xFF, 0x3F] + [UInt8](repeating: 9, count: 400)
    let vp9: [UInt8] = [0x82, 0x49, 0x83, 0x42, 0x0F, 0xFF, 0xFF, 0xFF, 0xF0] + [UInt8](repeating: 9, count: 400)
    for decoder in try CodedClip.decoders(for: .vp8) { #expect(isRefused(vp8, by: decoder)) }
    for decoder in try CodedClip.decoders(for: .vp9) { #expect(isRefused(vp9, by: decoder)) }
    // H.264: a sequence parameter set of 16368×16368, a picture parameter set, an IDR slice.
    let h264: [UInt8] =
      [0, 0, 0, 1, 0x67, 66, 0xC0, 10] + hugeParameterSet
      + [0, 0, 0, 1, 0x68, 0xCE, 0x3C, 0x80, 0, 0, 0, 1, 0x65, 0x88, 0x84] + [UInt8](repeating: 9, count: 400)
    for decoder in try CodedClip.decoders(for: .h264) { #expect(isRefused(h264, by: decoder)) }
    #expect(peakMemory - before < 300 << 20)
  }

  @Test func `who keeps every picture of VP9 gets an error in the end, and no crash`() throws {
    let clip = try CodedClip(.vp9, source: "testsrc=size=640x480:rate=25", frames: 2)
    let decoder = try VP9Decoder(mostBytes: 32 << 20)
    var kept: [PixelBuffer] = []
    while kept.count < 300, let picture = try? decoder.decode(clip.keyFrame) { kept.append(picture) }
    #expect((10..<300).contains(kept.count))
    kept = []
    #expect(!isRefused(clip.keyFrame, by: decoder))
  }

  private var hugeParameterSet: [UInt8] {
    // Id 0, 4 bits of frame numbers, order of output as of decoding, 1 reference, no gaps, 1023 by 1023 macroblocks,
    // frames only, no cropping, nothing more.
    let text = "1" + "1" + "011" + "010" + "0" + golomb(1_022) + golomb(1_022) + "1" + "1" + "0" + "0" + "1"
    let padded = text + String(repeating: "0", count: (8 - text.count % 8) % 8)
    return stride(from: 0, to: padded.count, by: 8).map { UInt8(padded.dropFirst($0).prefix(8), radix: 2) ?? 0 }
  }

  /// An unsigned Exp-Golomb code.
  private func golomb(_ value: Int) -> String {
    let digits = String(value + 1, radix: 2)
    return String(repeating: "0", count: digits.count - 1) + digits
  }

  /// In bytes.
  private var peakMemory: Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return usage.ru_maxrss * 1_024
  }
}
