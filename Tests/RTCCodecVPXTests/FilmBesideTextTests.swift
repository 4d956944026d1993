import RTCMedia
import RTCPrimitives
import Testing

@Suite struct FilmBesideTextTests {
  private let size = PixelSize(width: 1280, height: 720)

  /// Plays a film, or writes other text 25 times a second, in `rect` of a page for ten seconds, over a link of this rate.
  /// - Returns: how many of the pictures of the last eight seconds were coded.
  private func codedShare(
    of loop: inout Loop, _ page: inout Page, in rect: PixelRect, isFilm: Bool, at rate: BitRate
  ) throws -> Double {
    var (drained, coded) = (Timestamp.zero, 0)
    func note(_ frame: EncodedFrame?, _ now: Timestamp) {
      guard let frame else { return }
      drained = max(drained, now) + rate.time(forBytes: frame.data.count)
      loop.encoder.setSendQueue(drained: drained)
    }
    page.draw(into: loop.encoder.picture)
    note(try loop.encode(changed: nil), loop.now)
    for number in 0..<250 {
      loop.now += .milliseconds(20)
      if let due = loop.encoder.refinementTime(now: loop.now), due <= loop.now { note(try loop.refine(), loop.now) }
      loop.now += .milliseconds(20)
      if isFilm { page.play(number, in: rect) } else { page.write(in: rect, seed: UInt64(number) + 100) }
      page.draw(into: loop.encoder.picture)
      let frame = try loop.encode(changed: [rect])
      note(frame, loop.now)
      if number >= 50, frame != nil { coded += 1 }
    }
    return Double(coded) / 200
  }

  private func loop(_ rate: BitRate) throws -> Loop {
    var settings = VideoEncoderSettings(size: size, targetBitrate: rate)
    settings.maxFrameRate = 25
    return try Loop(settings)
  }

  @Test func `a film keeps its frames and gives up sharpness, and text keeps sharpness`() throws {
    let rate = BitRate.kilobitsPerSecond(500)
    let rect = PixelRect(x: 256, y: 96, width: 768, height: 432)
    var (film, text) = (try loop(rate), try loop(rate))
    var (filmPage, textPage) = (Page(size: size), Page(size: size))
    let ofFilm = try codedShare(of: &film, &filmPage, in: rect, isFilm: true, at: rate)
    let ofText = try codedShare(of: &text, &textPage, in: rect, isFilm: false, at: rate)
    #expect(ofFilm >= 0.8 && ofText <= 0.5, "\(ofFilm) of the film, \(ofText) of the text")
  }

  @Test func `a small film does not keep the text beside it from becoming perfect`() throws {
    let rate = BitRate.kilobitsPerSecond(1_000)
    // Fewer macroblocks than a movement of text must have to count as one.
    let rect = PixelRect(x: 960, y: 96, width: 256, height: 192)
    var loop = try loop(rate)
    var page = Page(size: size)
    let share = try codedShare(of: &loop, &page, in: rect, isFilm: true, at: rate)
    #expect(share >= 0.8, "\(share)")
    let text = PixelRect(x: 0, y: 0, width: 944, height: size.height)
    let sharpness = page.psnr(try #require(loop.shown), in: text)
    #expect(sharpness >= 38, "\(sharpness) dB")
  }

  /// A clock that ticks is coarse again and again: what rests must not wait until it is not.
  @Test func `text beside a film that fills the link, and a clock that ticks, becomes perfect`() throws {
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
