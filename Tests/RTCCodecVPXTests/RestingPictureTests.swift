import RTCMedia
import RTCPrimitives
import Testing

@Suite struct RestingPictureTests {
  let size = PixelSize(width: 640, height: 360)

  @Test func `a resting page becomes visually lossless and then nothing is sent`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(400)))
    page.draw(into: loop.encoder.picture)
    let first = try #require(try loop.encode(changed: nil))
    #expect(first.isKeyFrame)
    #expect(first.data.count < 60_000)
    _ = try loop.rest(for: .seconds(Int64(10)))
    #expect(page.psnr(try #require(loop.shown)) >= 40)
    #expect(loop.encoder.refinementTime(now: loop.now) == nil)
    #expect(try loop.encoder.refine(now: loop.now) == nil)
    #expect(try loop.encode(changed: []) == nil)
  }

  @Test func `a clock that ticks holds up no refinement of the page beside it`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(400)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .milliseconds(500))
    let clock = PixelRect(x: 0, y: 0, width: 16, height: 16)
    page.write(in: clock, seed: 99)
    page.draw(into: loop.encoder.picture)
    _ = try #require(try loop.encode(changed: [clock]))
    let refined = try loop.rest(for: .milliseconds(249))
    #expect(refined.bytes > 4_000, "a third of the rate, not what repeats a frame")
  }

  /// Some receivers show a frame only when the next begins.
  @Test func `the last frame before a rest is followed by one small frame that changes no pixel`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(4)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    var sizes: [Int] = []
    var shown = try #require(loop.shown).lumaBytes()
    var isUnchanged = false
    while let due = loop.encoder.refinementTime(now: loop.now), sizes.count < 1_000 {
      loop.now = max(due, loop.now + .milliseconds(1))
      guard let frame = try loop.encoder.refine(now: loop.now) else { continue }
      let next = try #require(try loop.decoder.decode(frame.data)).lumaBytes()
      isUnchanged = next == shown
      shown = next
      sizes.append(frame.data.count)
    }
    #expect(sizes.count > 1 && isUnchanged)
    #expect(try #require(sizes.last) < 100)
  }

  @Test func `refinement keeps to the rate`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(200)))
    page.draw(into: loop.encoder.picture)
    let first = try #require(try loop.encode(changed: nil))
    let spent = try loop.rest(for: .seconds(Int64(3)))
    // Half a second of savings may come on top.
    #expect(first.data.count + spent.bytes < 200_000 / 8 * 4)
  }

  @Test func `a key frame of a resting page can be asked for and is refined again`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(600)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(8)))
    let key = try #require(try loop.encode(changed: [], keyFrame: true))
    #expect(key.isKeyFrame)
    _ = try loop.rest(for: .seconds(Int64(8)))
    #expect(page.psnr(try #require(loop.shown)) >= 40)
  }

  @Test func `what is not damaged stays as it was over two hundred frames`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(1)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(10)))
    let before = try #require(loop.shown).lumaBytes()
    let damage = PixelRect(x: 160, y: 160, width: 128, height: 32)
    for seed in 0..<200 {
      page.write(in: damage, seed: UInt64(seed) + 7)
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(33)
      _ = try loop.encode(changed: [damage])
    }
    let after = try #require(loop.shown).lumaBytes()
    // Where a coarse frame filtered the edge of a neighbour, at most the macroblocks around the damage differ.
    let near = PixelRect(x: 144, y: 144, width: 160, height: 64)
    var differing = 0
    for y in 0..<size.height {
      for x in 0..<size.width where near.intersection(PixelRect(x: x, y: y, width: 1, height: 1)).isEmpty {
        if before[y * size.width + x] != after[y * size.width + x] { differing += 1 }
      }
    }
    #expect(differing == 0)
    _ = try loop.rest(for: .seconds(Int64(10)))
    #expect(page.psnr(try #require(loop.shown), in: near) >= 38)
  }
}
