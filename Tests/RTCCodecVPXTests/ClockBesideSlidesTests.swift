import RTCMedia
import RTCPrimitives
import Testing

/// Slides that replace each other, and a clock beside them that changes 30 times a second, on a slow link.
@Suite struct ClockBesideSlidesTests {
  private let size = PixelSize(width: 1280, height: 720)
  private let slide = PixelRect(x: 160, y: 160, width: 800, height: 320)
  /// Eight macroblocks by two: more than a frame of few macroblocks has on a slow link, unless it takes few bytes.
  private let clock = PixelRect(x: 16, y: 16, width: 128, height: 32)
  private let tick = TimeDelta.microseconds(33_333)

  private struct Link {
    let rate: BitRate
    var drained = Timestamp.zero

    mutating func send(_ frame: EncodedFrame?, by loop: inout Loop) {
      guard let frame else { return }
      drained = max(drained, loop.now) + rate.time(forBytes: frame.data.count)
      loop.encoder.setSendQueue(drained: drained)
    }
  }

  /// Turns the clock by one tick, and refines until the next.
  private func step(_ loop: inout Loop, _ link: inout Link, changed: [PixelRect]) throws -> EncodedFrame? {
    let end = loop.now + tick
    let frame = try loop.encode(changed: changed)
    link.send(frame, by: &loop)
    while let due = loop.encoder.refinementTime(now: loop.now), due < end - .milliseconds(10) {
      loop.now = max(due, loop.now + .milliseconds(1))
      link.send(try loop.refine(), by: &loop)
    }
    loop.now = end
    return frame
  }

  private func turn(_ page: inout Page, _ number: Int) {
    page.write(in: clock, seed: UInt64(number % 4) + 50)
  }

  private func restedLoop(_ page: Page, _ rate: BitRate) throws -> Loop {
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: rate))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(20)))
    return loop
  }

  /// libvpx's frames have segments; the encoder's own have none, so the first bit of their first partition is 0.
  private func isOwn(_ frame: EncodedFrame) -> Bool { frame.data[3] < 128 }

  @Test(arguments: [(2_500, true), (150, false)])
  func `a clock is coded without libvpx if it takes a small part of the rate`(kilobits: Int64, isOwn: Bool) throws {
    var page = Page(size: size)
    var loop = try restedLoop(page, .kilobitsPerSecond(kilobits))
    for number in 0..<10 {
      turn(&page, number)
      page.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(200)
      let frame = try #require(try loop.encode(changed: [clock]))
      #expect(self.isOwn(frame) == isOwn)
      #expect(page.psnr(try #require(loop.shown), in: clock) >= 38)
    }
  }

  /// The bytes of a slide's first frame, the number of the next 15 ticks that were left out, and the quality of the slide
  /// half a second later.
  private func show(ticks: Int, slides: Int) throws -> (bytes: Int, leftOut: Int, rested: Double) {
    var page = Page(size: size)
    let rate = BitRate.kilobitsPerSecond(2_500)
    var (loop, link) = (try restedLoop(page, rate), Link(rate: rate))
    for number in 0..<ticks {
      turn(&page, number)
      page.draw(into: loop.encoder.picture)
      _ = try step(&loop, &link, changed: [clock])
    }
    var result = (bytes: 0, leftOut: 0, rested: 0.0)
    for slideNumber in 0..<slides {
      for number in 0..<15 {
        turn(&page, number)
        if number == 0 { page.write(in: slide, seed: UInt64(slideNumber) + 7) }
        page.draw(into: loop.encoder.picture)
        let frame = try step(&loop, &link, changed: number == 0 ? [slide, clock] : [clock])
        if number == 0 { result.bytes = frame?.data.count ?? 0 }
        if frame == nil { result.leftOut += 1 }
      }
      result.rested = page.psnr(try #require(loop.shown), in: slide)
    }
    return result
  }

  @Test func `a new slide is coarser at first rather than that ticks of the clock are left out`() throws {
    let beside = try show(ticks: 15, slides: 1)
    #expect(beside.leftOut == 0)
    #expect(beside.bytes <= BitRate.kilobitsPerSecond(2_500).bytes(in: .milliseconds(120)), "\(beside.bytes)")
    let alone = try show(ticks: 0, slides: 1)
    #expect(alone.bytes > beside.bytes * 5 / 4, "\(alone.bytes), \(beside.bytes)")
  }

  @Test func `slides that follow each other quickly become sharper before the next`() throws {
    let last = try show(ticks: 15, slides: 6)
    #expect(last.rested >= 36, "\(last.rested) dB")
    #expect(last.leftOut <= 6, "\(last.leftOut)")
  }
}
