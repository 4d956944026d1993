import RTCMedia
import RTCPrimitives
import Testing

/// A terminal that prints the lines of a log: they are alike in part, so that not all of what scrolls changes.
@Suite struct ScrollingLogTests {
  private let size = PixelSize(width: 960, height: 544)
  private let lineHeight = 18

  /// A page of lines. Each begins with the same letters, and goes on with others for `unlike` samples.
  private func log(from first: Int, unlike: Int) -> Page {
    var page = Page(size: size)
    page.clear()
    for line in 0..<size.height / lineHeight {
      let top = line * lineHeight
      page.write(in: PixelRect(x: 0, y: top, width: 320, height: lineHeight), seed: 1)
      page.write(in: PixelRect(x: 320, y: top, width: unlike, height: lineHeight), seed: UInt64(first + line) + 2)
    }
    return page
  }

  /// The macroblocks in which two pages differ.
  private func changes(_ old: Page, _ new: Page) -> [PixelRect] {
    var rects: [PixelRect] = []
    for y in stride(from: 0, to: size.height, by: 16) {
      for x in stride(from: 0, to: size.width, by: 16) {
        let isSame = (y..<y + 16).allSatisfy { line in
          let row = line * size.width + x
          return old.luma[row..<row + 16] == new.luma[row..<row + 16]
        }
        if !isSame { rects.append(PixelRect(x: x, y: y, width: 16, height: 16)) }
      }
    }
    return rects
  }

  @Test(arguments: [160, 320]) func `a log moves by a small frame, though its lines are alike`(unlike: Int) throws {
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(4)))
    var page = log(from: 0, unlike: unlike)
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(60)))
    for step in 1...3 {
      let before = page
      page = log(from: step, unlike: unlike)
      // The new line is the only long one.
      let last = size.height / lineHeight - 1
      page.write(
        in: PixelRect(x: 0, y: last * lineHeight, width: size.width, height: lineHeight), seed: UInt64(step) + 100)
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(200)
      let frame = try #require(try loop.encode(changed: changes(before, page)))
      #expect(frame.data.count < 12_000)
      let kept = PixelRect(x: 0, y: 16, width: size.width, height: size.height - 80)
      #expect(page.psnr(try #require(loop.shown), in: kept) >= 42)
    }
  }
}
