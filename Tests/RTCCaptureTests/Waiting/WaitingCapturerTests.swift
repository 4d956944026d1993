import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(1))) struct WaitingCapturerTests {
  /// Surroundings in which sources appear as the test says.
  private final class Place: CaptureSurroundings {
    private let findings: Mutex<[CaptureFinding]>
    private let event: WakeEvent

    init(_ findings: [CaptureFinding]) throws {
      self.findings = Mutex(findings)
      event = try WakeEvent()
    }

    var descriptors: [Int32] { [event.descriptor] }

    func takeChanges() -> Bool {
      event.clear()
      return findings.withLock { !$0.isEmpty }
    }

    func find() -> CaptureFinding { findings.withLock { $0.isEmpty ? .nothing("It is away.") : $0.removeFirst() } }

    func appear(_ capturer: any VideoCapturer) {
      findings.withLock { $0.append(.capturer(capturer)) }
      event.signal()
    }
  }

  /// A source that refuses to start.
  private final class Refusing: VideoCapturer {
    var supportedFormats: [VideoFormat] { [] }
    var isScreencast: Bool { true }
    func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
      consumer.captureDidStart(.failure(.unavailable("It refuses.")))
    }
    func stopCapture() {}
  }

  /// A source with a pointer that remembers what it was told.
  private final class Pointing: CursorCapturer {
    let isDrawn = Mutex(true)
    let consumer = Mutex<(any CursorConsumer)?>(nil)
    var supportedFormats: [VideoFormat] { [] }
    var isScreencast: Bool { true }
    var hasCursor: Bool { true }
    func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
      consumer.captureDidStart(.success(format))
    }
    func stopCapture() {}
    func setCursorConsumer(_ new: (any CursorConsumer)?) { consumer.withLock { $0 = new } }
    func setDrawsCursor(_ new: Bool) { isDrawn.withLock { $0 = new } }
  }

  private final class Listener: CursorConsumer {
    func consume(_ report: CursorReport) {}
  }

  private static func format(_ width: Int = 64, rate: Double = 200) -> VideoFormat {
    VideoFormat(size: PixelSize(width: width, height: 48), frameRates: 0...rate, pixelFormat: .bgra)
  }

  private static func passing(_ count: UInt64) -> SyntheticCapturer {
    SyntheticCapturer(pattern: .clock, frameLimit: count)
  }

  @Test func `of two places, the first one with a source counts, and changes of both are noticed`() throws {
    let (desktops, displays) = (try Place([]), try Place([]))
    let either = EitherSurroundings(desktops, displays)
    guard case .nothing("It is away. It is away.") = either.find() else { Issue.record("no reasons"); return }
    #expect(either.descriptors.count == 2 && !either.takeChanges())
    displays.appear(Self.passing(1))
    #expect(either.takeChanges())
    guard case .capturer = either.find() else { Issue.record("nothing in the second place"); return }
    desktops.appear(Self.passing(1))
    displays.appear(Self.passing(1))
    #expect(either.takeChanges())
    guard case .capturer = either.find() else { Issue.record("nothing in the first place"); return }
    #expect(displays.takeChanges(), "the second place still has its source")
  }

  @Test func `the consumer sees one source that starts at once, however often it comes and goes`() async throws {
    let place = try Place([.nothing("It is away.")])
    let capturer = WaitingCapturer(place, hasCursor: false)
    let collector = FrameCollector()
    capturer.startCapture(format: Self.format(), consumer: collector)
    defer { capturer.stopCapture() }
    guard case .stalled("There is no picture yet. It is away.") = await collector.next() else {
      Issue.record("no reason"); return
    }
    guard case .success(let format) = await collector.started() else { Issue.record("not started"); return }
    #expect(format.size.width == 0 && format.frameRates.upperBound == 200)
    for _ in 0..<3 {
      place.appear(Self.passing(3))
      guard case .resumed = await collector.next() else { Issue.record("not resumed"); return }
      var frames = 0
      while case .frame(let frame) = await collector.next(within: .milliseconds(500)) {
        if frames == 0 { #expect(frame.damage == nil, "a whole picture") }
        frames += 1
        if frames == 3 { break }
      }
      #expect(frames == 3)
      guard case .stalled("The picture stands still. The source has ended.") = await collector.next() else {
        Issue.record("no end"); return
      }
    }
  }

  @Test func `a source that is there at the start has its own size, and a refusal is a reason to wait`() async throws {
    let place = try Place([.capturer(Self.passing(1_000_000))])
    let capturer = WaitingCapturer(place, hasCursor: false)
    let collector = FrameCollector()
    capturer.startCapture(format: Self.format(128), consumer: collector)
    guard case .success(let format) = await collector.started() else { Issue.record("not started"); return }
    #expect(format.size.width == 128)
    #expect(await collector.frame() != nil)
    capturer.stopCapture()
    let refused = WaitingCapturer(try Place([.capturer(Refusing())]), hasCursor: false)
    let other = FrameCollector()
    refused.startCapture(format: Self.format(), consumer: other)
    guard case .stalled("There is no picture yet. It refuses.") = await other.next() else {
      Issue.record("no reason"); return
    }
    refused.stopCapture()
  }

  @Test func `it can be stopped from within a picture, and started again`() async throws {
    let place = try Place([.capturer(Self.passing(1_000_000)), .capturer(Self.passing(1_000_000))])
    let capturer = WaitingCapturer(place, hasCursor: false)
    let stopping = FrameCollector { _ in capturer.stopCapture() }
    capturer.startCapture(format: Self.format(), consumer: stopping)
    guard case .success = await stopping.started() else { Issue.record("not started"); return }
    guard case .frame = await stopping.next() else { Issue.record("no picture"); return }
    let collector = FrameCollector()
    capturer.startCapture(format: Self.format(), consumer: collector)
    guard case .success = await collector.started() else { Issue.record("not started again"); return }
    #expect(await stopping.next(within: .milliseconds(200)) == nil, "that picture was the last")
    capturer.stopCapture()
  }

  @Test func `each source is told the settings of the pointer`() async throws {
    let (first, second) = (Pointing(), Pointing())
    let place = try Place([.capturer(first)])
    let capturer = WaitingCapturer(place, hasCursor: true)
    let listener = Listener()
    capturer.setDrawsCursor(false)
    capturer.setCursorConsumer(listener)
    let collector = FrameCollector()
    capturer.startCapture(format: Self.format(), consumer: collector)
    guard case .success = await collector.started() else { Issue.record("not started"); return }
    #expect(first.consumer.withLock { $0 } === listener && !first.isDrawn.withLock { $0 })
    capturer.setDrawsCursor(true)
    #expect(first.isDrawn.withLock { $0 })
    capturer.stopCapture()
    place.appear(second)
    capturer.startCapture(format: Self.format(), consumer: collector)
    guard case .success = await collector.started() else { Issue.record("not started again"); return }
    #expect(second.consumer.withLock { $0 } === listener && second.isDrawn.withLock { $0 })
    capturer.stopCapture()
  }
}
