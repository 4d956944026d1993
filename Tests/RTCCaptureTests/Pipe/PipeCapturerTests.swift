import RTCCapture
import RTCMedia
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

@Suite struct PipeCapturerTests {
  private func raw(_ format: PixelFormat, _ width: Int = 32, _ height: Int = 16) -> PipeCapturer.Options {
    var options = PipeCapturer.Options()
    options.format = .raw(format, PixelSize(width: width, height: height))
    options.frameRate = 10
    return options
  }

  /// Writes it all, and tells what came out.
  private func cast(
    _ bytes: [UInt8], _ options: PipeCapturer.Options = .init()
  ) async -> (start: Result<VideoFormat, CaptureError>?, shades: [Int], end: CaptureEnd?, notice: String) {
    let writer = StreamWriter()
    writer.write(bytes)
    writer.end()
    let said = Mutex("")
    let capturer = PipeCapturer(.descriptor(writer.reading), options: options) { notice in
      said.withLock { $0 += notice }
    }
    let collector = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: collector)
    let start = await collector.started()
    guard case .success = start else { return (start, [], nil, "") }
    var shades: [Int] = []
    while let event = await collector.next() {
      switch event {
      case .frame(let frame): shades.append(frame.shade)
      case .ended(let reason): return (start, shades, reason, said.withLock { $0 })
      case .started, .stalled, .resumed: return (start, shades, nil, "")
      }
    }
    return (start, shades, nil, "")
  }

  @Test func `a stream is shown whole and ends by itself`() async {
    let stream = Y4MBytes.header() + (1...6).flatMap { Y4MBytes.frame($0) }
    let (start, shades, end, _) = await cast(stream)
    #expect(try! start?.get().size == PixelSize(width: 32, height: 16))
    #expect(shades == Array(1...6))
    #expect(end == .finished)
  }

  @Test func `frame parameters are let pass`() async {
    let stream = Y4MBytes.header() + Y4MBytes.frame(1, parameters: " Ixyz XA=B") + Y4MBytes.frame(2)
    #expect(await cast(stream).shades == [1, 2])
  }

  @Test func `two streams one behind the other are shown, each at its size`() async {
    let second = Y4MBytes.header(17, 33) + Y4MBytes.frame(9, width: 17, height: 33)
    let (_, shades, end, _) = await cast(Y4MBytes.header() + Y4MBytes.frame(1) + second)
    #expect(shades == [1, 9])
    #expect(end == .finished)
  }

  @Test func `empty input is refused`() async {
    for options in [PipeCapturer.Options(), raw(.i420)] {
      guard case .failure(.noSuchSource(let sentence)) = await cast([], options).start else {
        Issue.record("not refused")
        return
      }
      #expect(sentence.contains("empty"))
    }
  }

  @Test func `something else is refused at once, without waiting for its end`() async {
    let writer = StreamWriter()
    writer.write(Array("RIFF....AVI ".utf8))
    let collector = FrameCollector()
    let capturer = PipeCapturer(.descriptor(writer.reading))
    capturer.startCapture(format: wanted(), consumer: collector)
    guard case .failure(.noSuchSource(let sentence)) = await collector.started() else {
      Issue.record("not refused")
      return
    }
    #expect(sentence.contains("not YUV4MPEG2"))
    capturer.stopCapture()
  }

  @Test func `a header without end is refused`() async {
    guard
      case .failure(.noSuchSource(let sentence)) = await cast(
        Y4MBytes.header().dropLast() + .init(repeating: 65, count: 5000)
      ).start
    else {
      Issue.record("not refused")
      return
    }
    #expect(sentence.contains("4096"))
  }

  @Test func `a stream without a single whole picture is refused`() async {
    for (stream, word) in [
      (Y4MBytes.header(), "no picture follows"), (Y4MBytes.header() + Y4MBytes.frame(1).prefix(100), "first picture"),
      (Y4MBytes.header().dropLast(3), "cut off"), (Y4MBytes.header() + Array("GARBAGE\n".utf8), "no picture follows"),
    ] {
      guard case .failure(.noSuchSource(let sentence)) = await cast(stream).start else {
        Issue.record("not refused")
        return
      }
      #expect(sentence.contains(word))
    }
    guard case .failure(.noSuchSource(let sentence)) = await cast([1, 2, 3], raw(.i420)).start else {
      Issue.record("not refused")
      return
    }
    #expect(sentence.contains("3 bytes of its first picture, which has 768; is 32x16"))
  }

  @Test func `a stream that breaks off within a picture is shown up to there`() async {
    let (_, shades, end, notice) = await cast(Y4MBytes.header() + Y4MBytes.frame(1) + Y4MBytes.frame(2).dropLast(100))
    #expect(shades == [1])
    #expect(end == .finished)
    #expect(notice == "The last picture is incomplete and was left out, after 1 whole picture; was its writer ended?")
  }

  @Test func `garbage between pictures ends the cast with a sentence`() async {
    let (_, shades, end, notice) = await cast(Y4MBytes.header() + Y4MBytes.frame(1) + Array("GARBAGE and more\n".utf8))
    #expect(shades == [1])
    #expect(end == .finished)
    #expect(notice.contains("damaged"))
  }

  @Test func `raw pictures are shown whole, and a rest that is none is told of`() async {
    let pictures = (1...3).flatMap { Y4MBytes.picture($0) }
    let whole = await cast(pictures, raw(.i420))
    #expect(whole.shades == [1, 2, 3])
    #expect(whole.end == .finished && whole.notice == "")
    let more = await cast(pictures + [7, 7, 7], raw(.i420))
    #expect(more.shades == [1, 2, 3])
    #expect(more.end == .finished)
    #expect(more.notice.contains("no multiple of 768 bytes"))
    #expect(more.notice.contains("the last 3 bytes were left out, after 3 whole pictures; is 32x16"))
  }

  @Test(arguments: [(PixelFormat.bgra, 17 * 33 * 4), (.nv12, 17 * 33 + 9 * 17 * 2), (.i420, 17 * 33 + 9 * 17 * 2)])
  func `raw pictures of odd sizes lie without gaps`(format: PixelFormat, count: Int) async {
    let (start, shades, end, _) = await cast(
      (1...4).flatMap { [UInt8](repeating: UInt8($0), count: count) }, raw(format, 17, 33))
    #expect(try! start?.get().pixelFormat == format)
    #expect(shades == [1, 2, 3, 4])
    #expect(end == .finished)
  }

  @Test func `a stop ends a capturer that waits for its writer`() async {
    for beginning in [[], Y4MBytes.header(), Y4MBytes.header() + Y4MBytes.frame(1).dropLast(9)] as [[UInt8]] {
      let writer = StreamWriter()
      writer.write(beginning)
      await writer.drain()
      let capturer = PipeCapturer(.descriptor(writer.reading))
      capturer.startCapture(format: wanted(), consumer: FrameCollector())
      capturer.stopCapture()  // returns when the thread is gone
      let left = writer.unread
      writer.write(Y4MBytes.frame(2))
      await writer.drain()
      #expect(writer.unread == left + Y4MBytes.frame(2).count)
    }
  }

  @Test func `after a stop within a picture, another start goes on with the next whole one`() async {
    let writer = StreamWriter()
    let capturer = PipeCapturer(.descriptor(writer.reading))
    let first = FrameCollector()
    writer.write(Y4MBytes.header() + Y4MBytes.frame(1) + Y4MBytes.frame(2).prefix(300))
    capturer.startCapture(format: wanted(), consumer: first)
    #expect(await first.frame()?.shade == 1)
    // The reader has begun with picture 2 when nothing is left to read.
    while writer.unread > 0 { await Task.yield() }
    capturer.stopCapture()
    let second = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: second)
    writer.write(Y4MBytes.frame(2).dropFirst(300) + Y4MBytes.frame(3))
    writer.end()
    #expect(await second.frame()?.shade == 3)
    #expect(await second.ended() == .finished)
    let third = FrameCollector()
    capturer.startCapture(format: wanted(), consumer: third)
    guard case .failure(.noSuchSource) = await third.started() else { Issue.record("not refused"); return }
  }

  @Test func `a consumer that is slow never blocks its writer for good, and gets what is new`() async {
    let writer = StreamWriter()
    var options = raw(.i420, 256, 256)
    options.pacing = .arrival
    let gate = SlowConsumer(passes: 200)
    // Made beforehand: on a slow machine that takes longer than to consume them.
    let pictures = (0..<200).map { Y4MBytes.picture($0, width: 256, height: 256) }
    let capturer = PipeCapturer(.descriptor(writer.reading), options: options)
    capturer.startCapture(format: wanted(1000), consumer: gate)
    for picture in pictures { writer.write(picture) }
    writer.end()
    #expect(await gate.collector.ended() == .finished)
    #expect(gate.shades.last == 199)
    #expect(gate.shades.count < 200)
    #expect(gate.shades == gate.shades.sorted())
  }

  @Test func `a frame that is kept does not change`() async {
    let writer = StreamWriter()
    writer.write(Y4MBytes.header() + (1...6).flatMap { Y4MBytes.frame($0) })
    writer.end()
    let collector = FrameCollector()
    let capturer = PipeCapturer(.descriptor(writer.reading))
    capturer.startCapture(format: wanted(), consumer: collector)
    let kept = await collector.frame()
    #expect(await collector.ended() == .finished)
    #expect(kept?.shade == 1)
  }

  @Test func `sizes and rates beyond reason are refused`() async {
    for (width, height) in [(0, 16), (8193, 16), (-5, 16)] {
      guard case .failure(.unsupportedFormat) = await cast([1], raw(.bgra, width, height)).start else {
        Issue.record("not refused"); return
      }
    }
    var options = raw(.bgra)
    options.frameRate = .nan
    guard case .failure(.unsupportedFormat) = await cast([1], options).start else {
      Issue.record("not refused"); return
    }
  }

  @Test func `a descriptor that is not open is refused`() async {
    let collector = FrameCollector()
    PipeCapturer(.descriptor(9_999)).startCapture(format: wanted(), consumer: collector)
    guard case .failure(.unavailable(let sentence)) = await collector.started() else {
      Issue.record("not refused"); return
    }
    #expect(sentence.contains("Bad file descriptor"))
  }
}
