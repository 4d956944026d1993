import FeatureKit
import Glibc
import RTCCapture
import RTCMedia
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

private func format(_ width: Int, _ height: Int, fps: Double) -> VideoFormat {
  VideoFormat(size: PixelSize(width: width, height: height), frameRates: 0...fps, pixelFormat: .bgra)
}

@Suite(.timeLimit(.minutes(1))) struct SyntheticCapturerTests {
  @Test(.feature("S0.74", "S1.27", "S4.26", "S4.28")) func `frames come in order at the size asked for`() async {
    let capturer = SyntheticCapturer(pattern: .clock)
    let collector = FrameCollector()
    capturer.startCapture(format: format(101, 67, fps: 200), consumer: collector)
    var last = Timestamp.zero
    for _ in 0..<10 {
      guard let frame = await collector.frame() else { Issue.record("no frame"); return }
      #expect(frame.size == PixelSize(width: 101, height: 67))
      #expect(frame.captureTime > last)
      last = frame.captureTime
    }
    capturer.stopCapture()
  }

  @Test(.feature("S4.30")) func `a capturer runs on a thread of its own from its start to its stop`() async {
    let threads = Mutex<[UInt]>([])
    let collector = FrameCollector { _ in threads.withLock { $0.append(UInt(pthread_self())) } }
    let capturer = SyntheticCapturer(pattern: .clock)
    let starter = Self.start(capturer, format(32, 32, fps: 200), collector)
    for _ in 0..<10 { _ = await collector.frame() }
    capturer.stopCapture()
    let seen = threads.withLock { $0 }
    #expect(seen.count >= 10 && Set(seen).count == 1 && !seen.contains(starter))
  }

  /// Returns the thread on which it was started.
  private static func start(_ capturer: SyntheticCapturer, _ format: VideoFormat, _ consumer: FrameCollector) -> UInt {
    capturer.startCapture(format: format, consumer: consumer)
    return UInt(pthread_self())
  }

  @Test func `the first frame is whole and later ones say what changed`() async {
    let capturer = SyntheticCapturer(pattern: .bars)
    let collector = FrameCollector()
    capturer.startCapture(format: format(640, 360, fps: 100), consumer: collector)
    let first = await collector.frame()
    let second = await collector.frame()
    capturer.stopCapture()
    #expect(first?.damage == nil)
    #expect((second?.damage?.reduce(0) { $0 + $1.area }).map { $0 < 640 * 36 } == true)
  }

  @Test func `an impossible size is refused with a sentence`() async {
    let capturer = SyntheticCapturer(pattern: .bars)
    let collector = FrameCollector()
    capturer.startCapture(format: format(9000, 10, fps: 30), consumer: collector)
    guard case .failure(.unsupportedFormat(let sentence)) = await collector.started() else {
      Issue.record("not refused"); return
    }
    #expect(sentence.contains("9000x10"))
  }

  @Test func `a second start is refused and a start after a stop is not`() async {
    let capturer = SyntheticCapturer(pattern: .gradient)
    let (first, second, third) = (FrameCollector(), FrameCollector(), FrameCollector())
    capturer.startCapture(format: format(32, 32, fps: 100), consumer: first)
    capturer.startCapture(format: format(32, 32, fps: 100), consumer: second)
    #expect(await second.started() == .failure(.alreadyStarted))
    #expect(await first.frame() != nil)
    capturer.stopCapture()
    capturer.stopCapture()
    capturer.startCapture(format: format(32, 32, fps: 100), consumer: third)
    #expect(await third.frame() != nil)
    capturer.stopCapture()
  }

  @Test func `without a descriptor left the start fails with what to do about it`() async {
    // Limits hold for a whole process, so this is one of its own.
    await #expect(processExitsWith: .success) {
      alarm(60)
      var limit = rlimit(rlim_cur: 0, rlim_max: 4096)
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let collector = FrameCollector()
      SyntheticCapturer(pattern: .bars).startCapture(
        format: VideoFormat(size: PixelSize(width: 32, height: 32), frameRates: 0...30, pixelFormat: .bgra),
        consumer: collector)
      guard case .failure(.unavailable(let sentence)) = await collector.started() else { fatalError("not refused") }
      precondition(sentence.contains("too many files open"))
      // Sanitizers open files when a process exits.
      limit.rlim_cur = limit.rlim_max
      setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    }
  }

  @Test func `stopping inside a callback makes it the last`() async {
    let capturer = SyntheticCapturer(pattern: .gradient)
    let count = Counter()
    let collector = FrameCollector { _ in
      count.value.add(1, ordering: .relaxed)
      capturer.stopCapture()
    }
    capturer.startCapture(format: format(32, 32, fps: 1000), consumer: collector)
    #expect(await collector.frame() != nil)
    // Waits for the thread, from outside.
    capturer.stopCapture()
    #expect(count.value.load(ordering: .relaxed) == 1)
  }

  @Test func `a source with a limit ends by itself and can be started again`() async {
    let capturer = SyntheticCapturer(pattern: .noise, frameLimit: 3)
    for _ in 0..<2 {
      let collector = FrameCollector()
      capturer.startCapture(format: format(32, 32, fps: 500), consumer: collector)
      #expect(await collector.ended() == .finished)
    }
  }

  @Test func `a frame that is kept does not change`() async {
    let capturer = SyntheticCapturer(pattern: .noise)
    let collector = FrameCollector()
    capturer.startCapture(format: format(64, 64, fps: 500), consumer: collector)
    guard let kept = await collector.frame() else { Issue.record("no frame"); return }
    let before = checksum(kept)
    for _ in 0..<6 { #expect(await collector.frame() != nil) }
    #expect(checksum(kept) == before)
    capturer.stopCapture()
  }

  private func checksum(_ frame: VideoFrame) -> Int {
    let bytes = frame.buffer.bytes(ofPlane: 0)
    var sum = 0
    for index in bytes.indices { sum = sum &* 31 &+ Int(bytes[index]) }
    return sum
  }
}

private final class Counter: Sendable { let value = Atomic(0) }
