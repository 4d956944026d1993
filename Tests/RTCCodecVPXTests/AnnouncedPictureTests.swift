import RTCMedia
import RTCPrimitives
import Testing

/// A screen that changes 30 times a second, captured 5 times a second.
@Suite struct AnnouncedPictureTests {
  private let size = PixelSize(width: 1280, height: 720)
  private let rect = PixelRect(x: 160, y: 96, width: 960, height: 400)

  /// The result of five seconds in which other letters, or another picture of a film, stand in `rect` five times a
  /// second. Only the last three seconds are counted.
  private func play(
    isAnnounced: Bool, isFilm: Bool = false
  ) throws -> (frames: Int, pictures: Int, moving: Double, resting: Double) {
    var page = Page(size: size)
    var settings = VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(6_000))
    settings.maxFrameRate = 5
    var loop = try Loop(settings)
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    var (frames, moving, count) = (0, 0.0, 0)
    for number in 0..<25 {
      let next = loop.now + .milliseconds(200)
      if isAnnounced { loop.encoder.setNextPicture(by: next + .milliseconds(10)) }
      if isFilm { page.play(number * 6, in: rect) } else { page.write(in: rect, seed: UInt64(number) + 100) }
      page.draw(into: loop.encoder.picture)
      if number == 10 { frames = 0 }
      if try loop.encode(changed: [rect]) != nil { frames += 1 }
      while let due = loop.encoder.refinementTime(now: loop.now), due < next {
        loop.now = max(due, loop.now + .milliseconds(1))
        if try loop.refine() != nil { frames += 1 }
      }
      loop.now = next
      guard number >= 10 else { continue }
      moving += page.psnr(try #require(loop.shown), in: rect)
      count += 1
    }
    let resting = page.psnr(try #require(loop.shown), in: PixelRect(x: 0, y: 528, width: size.width, height: 192))
    return (frames, count, moving / Double(count), resting)
  }

  @Test func `letters that change are as sharp as without announcements, and so is the text beside them`() throws {
    let (told, untold) = (try play(isAnnounced: true), try play(isAnnounced: false))
    #expect(told.moving >= untold.moving - 0.5, "\(told.moving) dB, \(untold.moving) dB")
    #expect(told.resting >= untold.resting - 0.1, "\(told.resting) dB, \(untold.resting) dB")
    #expect(told.frames <= told.pictures * 3 / 2, "\(told.frames), \(untold.frames)")
  }

  @Test func `a film is as sharp as without announcements, and so is the text beside it`() throws {
    let (told, untold) = (try play(isAnnounced: true, isFilm: true), try play(isAnnounced: false, isFilm: true))
    #expect(told.moving >= untold.moving - 0.5, "\(told.moving) dB, \(untold.moving) dB")
    #expect(told.resting >= untold.resting - 0.1, "\(told.resting) dB, \(untold.resting) dB")
    #expect(told.frames <= told.pictures * 3 / 2, "\(told.frames), \(untold.frames)")
  }
}
