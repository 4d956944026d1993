import RTCMedia
import RTCPrimitives
import Testing

/// Frames of few macroblocks, which are made without libvpx and which libvpx goes on from.
@Suite struct FewChangesTests {
  private let size = PixelSize(width: 648, height: 374)

  private func restedLoop(_ page: Page) throws -> Loop {
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(6)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(10)))
    return loop
  }

  @Test func `a few letters are as sharp as a page at rest, and change nothing else`() throws {
    var page = Page(size: size)
    var loop = try restedLoop(page)
    let before = try #require(loop.shown).lumaBytes()
    // Whole macroblocks.
    let rect = PixelRect(x: 64, y: 160, width: 64, height: 32)
    page.write(in: rect, seed: 77)
    page.draw(into: loop.encoder.picture)
    loop.now += .seconds(Int64(1))
    let frame = try #require(try loop.encode(changed: [rect]))
    #expect(!frame.isKeyFrame)
    #expect(page.psnr(try #require(loop.shown), in: rect) >= 42)
    var after = try #require(loop.shown).lumaBytes()
    for y in rect.y..<rect.maxY {
      let line = y * size.width + rect.x..<y * size.width + rect.maxX
      after.replaceSubrange(line, with: before[line])
    }
    #expect(after == before)
  }

  /// Viewers would drift away from what the encoder believes they have if the two ways of making a frame did not hand the
  /// last frame on to each other.
  @Test func `few and many changes, and scrolls, may follow each other in any order`() throws {
    var page = Page(size: size)
    var loop = try restedLoop(page)
    var state = UInt32(9)
    for step in 0..<90 {
      state = state &* 1_664_525 &+ 1_013_904_223
      let kind = Int(state >> 24) % 4
      let (x, y) = (Int(state >> 8) % 500, Int(state >> 16) % 250)
      let rect =
        switch kind {
        case 0, 1: PixelRect(x: x, y: y, width: 50, height: 30)
        case 2: PixelRect(x: x / 2, y: y / 2, width: 350, height: 200)
        default: PixelRect(size)
        }
      if kind == 3 { page.scroll(by: 18, seed: UInt64(step) + 3) } else { page.write(in: rect, seed: UInt64(step) + 2) }
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(200)
      _ = try loop.encode(changed: [rect])
      if step % 9 == 0 { _ = try loop.rest(for: .milliseconds(300)) }
    }
    _ = try loop.rest(for: .seconds(Int64(10)))
    #expect(page.psnr(try #require(loop.shown)) >= 42)
  }
}
