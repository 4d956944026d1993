import RTCPrimitives
import RTCast
import Testing

/// A machine of one core, whose time work that can wait is to leave alone.
@Suite struct `How much processor time exact pixels may take` {
  /// Ten seconds in steps of 10 ms, of which other work takes a share.
  private struct Run {
    var allowance: EncodingAllowance
    var now = Timestamp.zero + .seconds(Int64(1_000))
    var process = TimeDelta.seconds(Int64(100))
    /// Steps in which there was work.
    var worked = 0

    /// - Parameters:
    ///   - others: of one core's time.
    ///   - job: how long one piece of work takes; nil: there is none.
    mutating func pass(_ time: TimeDelta, others: Double, job: TimeDelta? = nil) {
      let end = now + time
      while now < end {
        allowance.noteProcess(process, now: now)
        if let job, allowance.nextTurn <= now {
          worked += 1
          process = process + job
          now += job
          allowance.note(job, now: now)
        } else {
          now += .milliseconds(10)
        }
        process = process + .microseconds(Int64(10_000 * others))
      }
      allowance.noteProcess(process, now: now)
    }

    var mayWork: Bool { allowance.nextTurn <= now }
  }

  @Test func `they have half of a core, and some of it in advance`() {
    var run = Run(allowance: EncodingAllowance(share: 0.5))
    run.pass(.seconds(Int64(10)), others: 2, job: .milliseconds(20))
    #expect((250...275).contains(run.worked))
  }

  @Test func `they stop where the process takes more than its limit`() {
    var run = Run(allowance: EncodingAllowance(share: 0.5, limit: 0.6))
    run.pass(.seconds(Int64(2)), others: 0.5)
    #expect(run.mayWork)
    run.pass(.seconds(Int64(60)), others: 0.9)
    #expect(!run.mayWork)
    run.pass(.milliseconds(900), others: 0)
    #expect(!run.mayWork)
    run.pass(.milliseconds(200), others: 0)
    #expect(run.mayWork, "a minute beyond the limit is forgotten in a second")
  }

  @Test func `with their own work the process is within its limit`() {
    var run = Run(allowance: EncodingAllowance(share: 1, limit: 0.4))
    let start = run.process
    run.pass(.seconds(Int64(20)), others: 0.2, job: .milliseconds(30))
    let share = (run.process - start).seconds / 20
    #expect((0.36...0.42).contains(share), "\(share)")
  }

  @Test func `without a limit the process may take what it likes`() {
    var run = Run(allowance: EncodingAllowance(share: 0.5))
    run.pass(.seconds(Int64(60)), others: 8)
    #expect(run.mayWork && !run.allowance.hasLimit)
  }
}
