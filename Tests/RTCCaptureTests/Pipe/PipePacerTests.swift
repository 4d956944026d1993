import RTCCapture
import RTCPrimitives
import Testing

/// A writer and a reader on virtual time.
private struct VirtualPipe {
  var pacer: PipePacer
  var now = Timestamp.zero
  var shown: [(picture: Int, at: Timestamp)] = []
  /// How long the consumer takes for a picture.
  var consuming = TimeDelta.milliseconds(1)

  init(rate: Double, limit: Double = 1000) { pacer = PipePacer(rate: rate, limit: limit) }

  /// - Parameter written: when each picture lies in the pipe, whole; reading one takes `reading`.
  mutating func run(written: [Timestamp], reading: TimeDelta = .milliseconds(1)) {
    for (picture, moment) in written.enumerated() {
      let began = now
      now = max(now, moment) + reading
      let isMoreWaiting = picture + 1 < written.count && written[picture + 1] <= now
      guard case .show(let due) = pacer.decide(.init(began: began, completed: now, isMoreWaiting: isMoreWaiting)) else {
        continue
      }
      now = max(now, due)
      shown.append((picture, now))
      now += consuming
      pacer.noteShown(at: due, until: now)
    }
  }

  var pictures: [Int] { shown.map(\.picture) }
  func rate(over range: Range<Int>) -> Double {
    Double(range.count - 1) / (shown[range.upperBound - 1].at - shown[range.lowerBound].at).seconds
  }
}

private func steady(_ count: Int, every gap: TimeDelta, from start: Timestamp = .zero) -> [Timestamp] {
  (0..<count).map { start + gap * Int64($0) }
}

@Suite struct PipePacerTests {
  @Test func `a film that is written at once plays at its own rate, whole`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.run(written: steady(300, every: .zero))
    #expect(pipe.pictures == Array(0..<300))
    #expect(abs(pipe.rate(over: 0..<300) - 30) < 0.01)
  }

  @Test func `a writer that is slower than it says is followed as it comes`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.run(written: steady(100, every: .milliseconds(100)))
    #expect(pipe.pictures == Array(0..<100))
    for (picture, at) in pipe.shown {
      let written = Timestamp.zero + .milliseconds(100) * Int64(picture)
      #expect(at - written <= .milliseconds(1))
    }
  }

  @Test func `a live writer's pictures are at most a moment old, whatever its jitter`() {
    var pipe = VirtualPipe(rate: 25)
    let written = (0..<500).map { Timestamp.zero + .milliseconds(Int64($0) * 40 + Int64($0 * 7 % 11)) }
    pipe.run(written: written)
    #expect(pipe.pictures == Array(0..<500))
    for (picture, at) in pipe.shown { #expect(at - written[picture] <= .milliseconds(13)) }
  }

  @Test func `a consumer that is too slow gets the newest, in time`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.consuming = .milliseconds(100)
    let written = steady(300, every: .microseconds(33_333))
    pipe.run(written: written)
    #expect((70...110).contains(pipe.shown.count))
    for (picture, at) in pipe.shown.dropFirst() { #expect(at - written[picture] <= .milliseconds(110)) }
  }

  @Test func `a film stays in time when its consumer is too slow`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.consuming = .milliseconds(100)
    pipe.run(written: steady(300, every: .zero))
    for (picture, at) in pipe.shown {
      let due = Timestamp.zero + .microseconds(33_333) * Int64(picture)
      #expect(abs((at - due).seconds) <= 0.11)
    }
  }

  @Test func `after a pause of the writer, a film goes on where it stood`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.run(written: steady(30, every: .zero) + steady(60, every: .zero, from: .zero + .seconds(5)))
    #expect(pipe.pictures == Array(0..<90))
    #expect(abs(pipe.rate(over: 31..<90) - 30) < 0.1)
  }

  @Test func `after a pause, something live catches up and leaves out what is old`() {
    var pipe = VirtualPipe(rate: 30)
    let live = steady(30, every: .microseconds(33_333))
    let end = live.last! + .seconds(2)
    let late = steady(60, every: .microseconds(33_333), from: .zero + .seconds(1)).map { max(end, $0) }
    let after = steady(60, every: .microseconds(33_333), from: .zero + .seconds(3))
    pipe.run(written: live + late + after)
    for (picture, at) in pipe.shown where picture >= 90 {
      #expect(at - after[picture - 90] <= .milliseconds(33))
    }
    #expect(Set(90..<150).isSubset(of: pipe.pictures))
  }

  @Test func `the newest picture is shown even when nothing follows for long`() {
    var pipe = VirtualPipe(rate: 30)
    var bursts: [Timestamp] = []
    for number in 0..<Int64(20) {
      let start = Timestamp.zero + .seconds(number * 10)
      bursts += [start, start + .milliseconds(8)]
    }
    pipe.run(written: bursts)
    #expect(Set(stride(from: 1, to: 40, by: 2)).isSubset(of: pipe.pictures))
  }

  @Test func `pictures that take longer to read than to show are all shown`() {
    var pipe = VirtualPipe(rate: 30)
    pipe.run(written: steady(50, every: .zero), reading: .milliseconds(100))
    #expect(pipe.pictures == Array(0..<50))
  }

  @Test func `no more are shown than wanted`() {
    var pipe = VirtualPipe(rate: 60, limit: 15)
    pipe.run(written: steady(600, every: .zero))
    #expect((149...151).contains(pipe.shown.count))
  }
}
