import RTCMedia
import RTCPrimitives
import Testing

@Suite struct SlowLinkTests {
  let size = PixelSize(width: 1280, height: 720)

  /// A page scrolled by `step` lines for each of `count` pictures, 30 a second; refinement and left-out changes come
  /// between them, as the encoder wants. Returns what was sent and when.
  private func scroll(
    _ loop: inout Loop, _ page: inout Page, by step: Int, count: Int, drained: (Int, Timestamp) -> Timestamp? = { _, _ in nil }
  ) throws -> [(time: Timestamp, bytes: Int)] {
    var sent: [(time: Timestamp, bytes: Int)] = []
    for index in 0..<count {
      page.scroll(by: step, seed: UInt64(index) + 100)
      page.draw(into: loop.encoder.picture)
      if let drained = drained(index, loop.now) { loop.encoder.setSendQueue(drained: drained) }
      if let frame = try loop.encode(changed: nil) { sent.append((loop.now, frame.data.count)) }
      let next = loop.now + .microseconds(33_333)
      while let due = loop.encoder.refinementTime(now: loop.now), due < next - .milliseconds(10) {
        loop.now = max(due, loop.now + .milliseconds(1))
        if let frame = try loop.refine() { sent.append((loop.now, frame.data.count)) }
      }
      loop.now = next
    }
    return sent
  }

  /// The most of any second.
  private func densest(_ sent: [(time: Timestamp, bytes: Int)]) -> Int {
    sent.indices.map { first in
      sent[first...].prefix { $0.time < sent[first].time + .seconds(Int64(1)) }.reduce(0) { $0 + $1.bytes }
    }.max() ?? 0
  }

  @Test(arguments: [300, 600, 1000, 2500]) func `the first picture takes at most a fifth of a second`(rate: Int64) throws {
    let page = Page(size: size)
    let bitrate = BitRate.kilobitsPerSecond(rate)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: bitrate))
    page.draw(into: loop.encoder.picture)
    let first = try #require(try loop.encode(changed: nil))
    #expect(first.isKeyFrame)
    // A picture without any detail has its size too.
    #expect(first.data.count < max(6_000, bitrate.bytes(in: .milliseconds(220))))
    _ = try loop.rest(for: .seconds(Int64(30)))
    #expect(page.psnr(try #require(loop.shown)) >= 40)
  }

  @Test func `on a fast link the first picture is sharp`() throws {
    let page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(8)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    #expect(page.psnr(try #require(loop.shown)) >= 30)
  }

  @Test func `a full change after a rest is legible within 700 ms of a megabit`() throws {
    // A third of the picture is text.
    var page = Page(size: size, seed: 3)
    let rate = BitRate.megabitsPerSecond(1)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: rate))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(60)))
    page.clear()
    page.write(in: PixelRect(x: 0, y: 0, width: 480, height: 620), seed: 9)
    page.draw(into: loop.encoder.picture)
    let change = loop.now
    var sent: [(time: Timestamp, bytes: Int)] = []
    // What is coded has to be sent too.
    func arrival() -> Timestamp {
      sent.reduce(change) { max($0, $1.time) + rate.time(forBytes: $1.bytes) }
    }
    var frame = try loop.encode(changed: nil)
    while true {
      if let frame {
        sent.append((loop.now, frame.data.count))
        #expect(arrival() - loop.now <= .milliseconds(250))
        if page.psnr(try #require(loop.shown)) >= 32 { break }
      }
      let due = try #require(loop.encoder.refinementTime(now: loop.now))
      loop.now = max(due, loop.now + .milliseconds(1))
      frame = try loop.refine()
    }
    #expect(arrival() - change <= .milliseconds(700))
  }

  @Test func `a fall of the rate is followed at once`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(5)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(3)))
    _ = try scroll(&loop, &page, by: 6, count: 60)
    let slow = BitRate.kilobitsPerSecond(600)
    loop.encoder.setTargetBitrate(slow)
    let fall = loop.now
    let sent = try scroll(&loop, &page, by: 6, count: 150)
    #expect(densest(sent) <= slow.bytes(in: .milliseconds(1150)))
    let times = [fall] + sent.map(\.time)
    let gap = zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .zero
    #expect(gap <= .milliseconds(500))
    #expect(sent.count >= 25)
    // And a rise is used: sharper within a few seconds.
    let coarse = page.psnr(try #require(loop.shown))
    loop.encoder.setTargetBitrate(.megabitsPerSecond(3))
    _ = try scroll(&loop, &page, by: 6, count: 120)
    #expect(page.psnr(try #require(loop.shown)) >= coarse + 3)
  }

  @Test func `nothing is coded behind what waits unsent`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(2)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(5)))
    let start = loop.now
    let drained = start + .milliseconds(500)
    let sent = try scroll(&loop, &page, by: 6, count: 20) { _, _ in drained }
    #expect(try #require(sent.first).time >= drained - .milliseconds(130))
    #expect(try #require(sent.first).time <= drained)
  }

  @Test func `what scrolled far costs less than what is new`() throws {
    func cost(scrolled: Bool) throws -> Int {
      var page = Page(size: size)
      var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(1500)))
      page.draw(into: loop.encoder.picture)
      _ = try loop.encode(changed: nil)
      _ = try loop.rest(for: .seconds(Int64(20)))
      if scrolled { page.scroll(by: 90, seed: 5) } else { page.write(in: PixelRect(size), seed: 77) }
      page.draw(into: loop.encoder.picture)
      let frame = try #require(try loop.encode(changed: nil))
      let psnr = page.psnr(try #require(loop.shown))
      // What is new is without detail at first, what moved is not.
      #expect(scrolled ? psnr > 24 : psnr < 18)
      return frame.data.count
    }
    #expect(try cost(scrolled: true) <= 40_000)
    #expect(try cost(scrolled: false) <= 40_000)
  }

  @Test func `a page that scrolls before it is sharp gets sharp while it scrolls`() throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .kilobitsPerSecond(1500)))
    page.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    let first = page.psnr(try #require(loop.shown))
    let sent = try scroll(&loop, &page, by: 3, count: 240)
    #expect(page.psnr(try #require(loop.shown)) >= first + 6)
    #expect(densest(sent) <= 1_500_000 / 8 * 120 / 100)
  }
}
