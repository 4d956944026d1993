import Foundation
import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct EncoderMemoryTests {
  /// libvpx asks for 48 MiB of zeroed memory for a 1080p encoder, of which pages of text use little: it is not to be resident.
  @Test(arguments: [VideoCodec.vp8, .vp9])
  func `memory that an encoder does not use is not resident`(codec: VideoCodec) throws {
    let size = PixelSize(width: 1920, height: 1080)
    let page = ColouredPage(size: size)
    let settings = VideoEncoderSettings(size: size, contentHint: .detail, targetBitrate: .megabitsPerSecond(2))
    let before = try residentBytes()
    let encoder: any VideoEncoder = codec == .vp8 ? try VP8Encoder(settings) : try VP9Encoder(settings)
    page.draw(into: encoder.picture)
    _ = try encoder.encode(EncodeJob(changed: nil, captureTime: .zero, now: .zero))
    #expect(try residentBytes() - before < 64 << 20)
  }

  /// Bytes that this process holds in memory: the second field of `statm`, in pages.
  private func residentBytes() throws -> Int {
    let fields = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    return try #require(Int(fields[1])) * Int(sysconf(Int32(_SC_PAGESIZE)))
  }
}
