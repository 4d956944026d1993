import FeatureKit
import RTCMedia
import RTCPrimitives
import Testing

@Suite struct ChangingPictureTests {
  let size = PixelSize(width: 640, height: 360)

  @Test func `a small change is near lossless at once`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(1)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(10)))
    let letter = PixelRect(x: 200, y: 120, width: 12, height: 18)
    page.write(in: letter, seed: 99)
    page.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: [letter]))
    #expect(!frame.isKeyFrame)
    #expect(frame.data.count < 2000)
    #expect(page.psnr(try #require(loop.shown), in: letter) >= 38)
    // What is left is to say once that nothing changes.
    #expect(loop.encoder.refinementTime(now: loop.now) == loop.now + .milliseconds(250))
  }

  @Test(.feature("S4.25")) func `detail drops frames before it is coarser than motion, which keeps them`() throws {
    func run(_ hint: ContentHint) throws -> (frames: Int, worst: Int) {
      var page = Page(size: size)
      var loop = try Loop(
        VideoEncoderSettings(size: size, contentHint: hint, targetBitrate: .kilobitsPerSecond(150)))
      page.draw(into: loop.encoder.picture)
      _ = try loop.encode(changed: nil)
      var (frames, worst) = (0, 0)
      for seed in 0..<60 {
        page.write(in: PixelRect(size), seed: UInt64(seed) + 5)
        page.draw(into: loop.encoder.picture)
        loop.now += .milliseconds(33)
        guard let frame = try loop.encode(changed: nil) else { continue }
        frames += 1
        worst = max(worst, frame.quantizer)
      }
      return (frames, worst)
    }
    let (detail, motion) = (try run(.detail), try run(.motion))
    #expect(detail.frames < motion.frames)
    #expect(detail.worst <= motion.worst)
  }

  @Test func `a change left out for lack of bits comes later`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(200)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    var dropped = 0
    for seed in 0..<30 {
      page.write(in: PixelRect(size), seed: UInt64(seed) + 5)
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(33)
      if try loop.encode(changed: nil) == nil { dropped += 1 }
    }
    #expect(dropped > 0)
    _ = try loop.rest(for: .seconds(Int64(20)))
    #expect(page.psnr(try #require(loop.shown)) >= 40)
  }

  @Test(arguments: [
    PixelSize(width: 1, height: 1), PixelSize(width: 317, height: 243), PixelSize(width: 33, height: 17),
  ]) func `odd sizes work`(size: PixelSize) throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(5)))
    #expect(loop.shown?.size == size)
    #expect(page.psnr(try #require(loop.shown)) >= 38)
  }

  @Test func `a new size comes with a key frame`() throws {
    var loop = try Loop(VideoEncoderSettings(size: size))
    Page(size: size).draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    for other in [PixelSize(width: 800, height: 500), PixelSize(width: 201, height: 99)] {
      try loop.encoder.reconfigure(VideoEncoderSettings(size: other))
      let page = Page(size: other)
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(100)
      let frame = try #require(try loop.encode(changed: []))
      #expect(frame.isKeyFrame)
      #expect(loop.shown?.size == other)
    }
  }

  @Test func `a frame can be read where it lies`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(4)))
    let buffer = try #require(
      PixelBuffer.allocate(format: .i420, size: size) { plane, bytes, stride in
        for y in 0..<(plane == 0 ? size.height : size.height / 2) {
          for x in 0..<(plane == 0 ? size.width : size.width / 2) {
            bytes[y * stride + x] = plane == 0 ? page.luma[y * size.width + x] : 128
          }
        }
      })
    let frame = VideoFrame(buffer: buffer, captureTime: .zero, colorSpace: .bt601Limited)
    let coded = try loop.encoder.encode(EncodeJob(source: .frame(frame), changed: nil, captureTime: .zero, now: .zero))
    loop.shown = try loop.decoder.decode(try #require(coded).data)
    _ = try loop.rest(for: .seconds(Int64(5)))
    #expect(page.psnr(try #require(loop.shown)) >= 40)
    let wrong = VideoFrame(
      buffer: try #require(PixelBuffer.allocate(format: .bgra, size: size) { _, _, _ in }), captureTime: .zero,
      colorSpace: .sRGB)
    #expect(throws: VideoEncoderError.unsuitableFrame(.bgra, size)) {
      try loop.encoder.encode(EncodeJob(source: .frame(wrong), changed: nil, captureTime: .zero, now: .zero))
    }
  }

  @Test func `sizes beyond the codec are refused`() {
    let huge = PixelSize(width: 20_000, height: 10)
    #expect(throws: VideoEncoderError.unsupportedSize(huge)) { try Loop(VideoEncoderSettings(size: huge)) }
  }
}
