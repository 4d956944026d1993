import RTCCaptureX11
import RTCMedia
import RTCTestKit
import Testing
import XvfbKit

/// Frames and what is told of the pointer, in the order of the calls.
private final class Collector: VideoConsumer, CursorConsumer {
  enum Event: Sendable {
    case frame(VideoFrame)
    case report(CursorReport)
  }

  private let events: AsyncStream<Event>
  private let feed: AsyncStream<Event>.Continuation

  init() { (events, feed) = AsyncStream.makeStream() }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {}
  func captureDidEnd(_ reason: CaptureEnd) {}
  func consume(_ frame: VideoFrame) { feed.yield(.frame(frame)) }
  func consume(_ report: CursorReport) { feed.yield(.report(report)) }

  func next() async -> Event? { await events.next(within: .seconds(10)) }

  /// The events up to the first frame, that included.
  func untilFrame() async -> (reports: [CursorReport], frame: VideoFrame?) {
    var reports: [CursorReport] = []
    while let event = await next() {
      switch event {
      case .frame(let frame): return (reports, frame)
      case .report(let report): reports.append(report)
      }
    }
    return (reports, nil)
  }

  /// The next report; a frame is not expected.
  func report() async -> CursorReport? {
    guard case .report(let report) = await next() else {
      Issue.record("a frame, or nothing")
      return nil
    }
    return report
  }
}

extension X11CaptureTests {
  @Suite struct PointerTellingTests {
    private static let ground: UInt32 = 0x0000ff

    private func begin(isDrawn: Bool) throws -> (XvfbDisplay, XClient, X11Capturer, Collector) {
      let display = try XvfbDisplay()
      let client = XClient(display)
      client.fill(PixelRect(x: 0, y: 0, width: 640, height: 480), Self.ground)
      client.warpPointer(x: 100, y: 100)
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name, cursor: true))
      let collector = Collector()
      capturer.setDrawsCursor(isDrawn)
      capturer.setCursorConsumer(collector)
      capturer.startCapture(format: format(fps: 100), consumer: collector)
      return (display, client, capturer, collector)
    }

    private func isBare(_ frame: VideoFrame) -> Bool {
      (80..<130).allSatisfy { y in (80..<130).allSatisfy { frame.pixel($0, y) == Self.ground } }
    }

    @Test func `a pointer that is told of is not in the picture, and moving it makes no frame`() async throws {
      let (display, client, capturer, collector) = try begin(isDrawn: false)
      let (reports, first) = await collector.untilFrame()
      let frame = try #require(first)
      #expect(isBare(frame))
      guard reports.count == 3, case .drawing(let drawing) = reports[0], case .image(let image) = reports[1] else {
        Issue.record("\(reports)")
        return
      }
      let size = PixelSize(width: 640, height: 480)
      #expect(drawing == CursorDrawing(isDrawn: false, pictureSize: size, since: frame.captureTime))
      #expect(!image.isInvisible)
      #expect(reports[2] == .position(CursorPosition(x: 100, y: 100)))
      try display.run("xdotool", "mousemove_relative", "--", "50", "40")
      #expect(await collector.report() == .position(CursorPosition(x: 150, y: 140)))
      client.warpPointer(x: 300, y: 200)
      #expect(await collector.report() == .position(CursorPosition(x: 300, y: 200)), "a warp is no motion")
      capturer.stopCapture()
    }

    @Test func `another image is told without a frame`() async throws {
      let (display, client, capturer, collector) = try begin(isDrawn: false)
      _ = await collector.untilFrame()
      client.setPointer(glyph: 34)
      guard case .image(let image) = await collector.report() else {
        Issue.record("no image")
        return
      }
      #expect(image.size.width > 1 && !image.isInvisible)
      withExtendedLifetime(display) { capturer.stopCapture() }
    }

    @Test func `taken into the picture and out of it again it leaves nothing behind`() async throws {
      let (display, client, capturer, collector) = try begin(isDrawn: false)
      _ = await collector.untilFrame()
      capturer.setDrawsCursor(true)
      var (reports, next) = await collector.untilFrame()
      var frame = try #require(next)
      #expect(!isBare(frame))
      guard case .drawing(let drawn)? = reports.last else {
        Issue.record("\(reports)")
        return
      }
      #expect(drawn.isDrawn && drawn.since == frame.captureTime)
      #expect(frame.damage.map { $0.reduce(0) { $0 + $1.area } < 64 * 64 } ?? false)
      capturer.setDrawsCursor(false)
      (reports, next) = await collector.untilFrame()
      frame = try #require(next)
      #expect(isBare(frame))
      #expect(frame.damage.map { !$0.isEmpty && $0.reduce(0) { $0 + $1.area } < 64 * 64 } ?? false)
      guard case .drawing(let told)? = reports.first else {
        Issue.record("\(reports)")
        return
      }
      #expect(!told.isDrawn && told.since == frame.captureTime)
      #expect(reports.last == .position(CursorPosition(x: 100, y: 100)), "told anew")
      withExtendedLifetime((display, client)) { capturer.stopCapture() }
    }

    @Test func `a picture that is the same either way needs no frame for that`() async throws {
      let display = try XvfbDisplay()
      let client = XClient(display)
      client.fill(PixelRect(x: 0, y: 0, width: 640, height: 480), Self.ground)
      client.warpPointer(x: 600, y: 400)
      let target = X11CaptureOptions.Target.region(PixelRect(x: 0, y: 0, width: 320, height: 240))
      let capturer = X11Capturer(options: X11CaptureOptions(display: display.name, target: target, cursor: true))
      let collector = Collector()
      capturer.setCursorConsumer(collector)
      capturer.startCapture(format: format(fps: 100), consumer: collector)
      let frame = try #require(await collector.untilFrame().frame)
      capturer.setDrawsCursor(false)
      guard case .drawing(let drawing) = await collector.report() else {
        Issue.record("no word of it")
        return
      }
      #expect(!drawing.isDrawn && drawing.since == frame.captureTime)
      #expect(await collector.report() == .position(nil))
      client.warpPointer(x: 30, y: 20)
      #expect(await collector.report() == .position(CursorPosition(x: 30, y: 20)))
      capturer.stopCapture()
    }

    @Test func `without a consumer it is in the picture, whatever was said`() async throws {
      let (display, client, capturer, collector) = try begin(isDrawn: false)
      _ = await collector.untilFrame()
      capturer.setCursorConsumer(nil)
      let frame = try #require(await collector.untilFrame().frame)
      #expect(!isBare(frame))
      withExtendedLifetime((display, client)) { capturer.stopCapture() }
    }
  }
}
