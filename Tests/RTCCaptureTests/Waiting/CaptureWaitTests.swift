import RTCCapture
import RTCPrimitives
import Testing

@Suite struct CaptureWaitTests {
  private static let start = Timestamp.zero + .seconds(100)

  @Test func `while nothing is there, it looks every two seconds`() {
    var (wait, now) = (CaptureWait(now: Self.start), Self.start)
    for _ in 0..<5 {
      #expect(wait.next(now: now) == .look)
      wait.foundNothing(now: now)
      #expect(wait.next(now: now) == .wait(until: now + .seconds(2)))
      now = now + .seconds(2)
    }
  }

  @Test func `a reported change brings a look at once, and many bring no more than ten attempts a second`() {
    var wait = CaptureWait(now: Self.start)
    wait.foundNothing(now: Self.start)
    wait.surroundingsChanged(now: Self.start)
    #expect(wait.next(now: Self.start) == .wait(until: Self.start + .milliseconds(20)))
    var (now, attempts) = (Self.start, 0)
    while now < Self.start + .seconds(1) {
      wait.surroundingsChanged(now: now)
      if wait.next(now: now) == .look {
        attempts += 1
        wait.began(now: now)
        wait.ended(now: now)
      }
      now = now + .milliseconds(1)
    }
    #expect((8...10).contains(attempts))
  }

  @Test func `a source that refuses is tried soon, then less and less often`() {
    var (wait, now) = (CaptureWait(now: Self.start), Self.start)
    var delays: [Int64] = []
    for _ in 0..<10 {
      #expect(wait.next(now: now) == .look)
      wait.began(now: now)
      #expect(wait.next(now: now) == .wait(until: nil), "an attempt takes its time")
      wait.ended(now: now)
      guard case .wait(let due?) = wait.next(now: now) else { Issue.record("no time"); return }
      delays.append((due - now).milliseconds)
      now = due
    }
    #expect(delays == [50, 100, 200, 400, 800, 1_600, 3_000, 5_000, 5_000, 5_000])
  }

  @Test(arguments: [(1, 100), (2_500, 50)])
  func `a source that ran for a while is tried at once after its end`(lifetime: Int64, delay: Int64) {
    var (wait, now) = (CaptureWait(now: Self.start), Self.start)
    wait.began(now: now)
    wait.ended(now: now)
    now = now + .milliseconds(50)
    wait.began(now: now)
    wait.started(now: now)
    now = now + .milliseconds(lifetime)
    wait.ended(now: now)
    #expect(wait.next(now: now) == .wait(until: now + .milliseconds(delay)))
  }

  @Test func `changes around a running source mean nothing`() {
    var wait = CaptureWait(now: Self.start)
    wait.began(now: Self.start)
    wait.started(now: Self.start)
    wait.surroundingsChanged(now: Self.start)
    #expect(wait.next(now: Self.start + .seconds(100)) == .wait(until: nil))
  }
}
