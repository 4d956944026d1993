import RTCMedia
import RTCPrimitives
import Testing

@Suite struct FilmBesideTextTests {
  /// A clock that ticks is coarse again and again: what rests must not wait until it is not.
  @Test func `text beside a film that fills the link, and a clock that ticks, becomes perfect`() throws {
    let size = PixelSize(width: 1280, height: 720)
    let (film, clock) = (
      PixelRect(x: 720, y: 96, width: 512, height: 384), PixelRect(x: 720, y: 16, width: 64, height: 32)
    )
    let rate = BitRate.kilobitsPerSecond(2_500)
    var page = Page(size: size)
    var settings = VideoEncoderSettings(size: size, targetBitrate: rate)
    settings.maxFrameRate = 30
    var loop = try Loop(settings)
    page.draw(into: loop.encoder.picture)
    var (drained, step) = (Timestamp.zero, 0)
    func note(_ frame: EncodedFrame?, _ now: Timestamp) {
      guard let frame else { return }
      drained = max(drained, now) + rate.time(forBytes: frame.data.count)
      loop.encoder.setSendQueue(drained: drained)
    }
    note(try loop.encode(changed: nil), loop.now)
    for number in 0..<300 {
      loop.now += .milliseconds(17)
      if let due = loop.encoder.refinementTime(now: loop.now), due <= loop.now { note(try loop.refine(), loop.now) }
      loop.now += .milliseconds(16)
      let stripe = PixelRect(x: film.x, y: film.y + number * 48 % film.height, width: film.width, height: 48)
      page.write(in: stripe, seed: UInt64(number) + 100)
      var changed = [film]
      if number % 4 == 0 {
        page.write(in: clock, seed: UInt64(step) + 1000)
        changed.append(clock)
        step += 1
      }
      page.draw(into: loop.encoder.picture)
      note(try loop.encode(changed: changed), loop.now)
    }
    let text = PixelRect(x: 0, y: 0, width: 688, height: size.height)
    let sharpness = page.psnr(try #require(loop.shown), in: text)
    #expect(sharpness >= 41)
  }
}
