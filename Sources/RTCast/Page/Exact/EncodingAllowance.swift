package import RTCPrimitives

/// How much processor time may be spent on work that can wait: a share of one core, some of it in advance, and none while the
/// whole process takes more than its limit.
package struct EncodingAllowance {
  /// Time of one core that is earned as time passes, and spent.
  private struct Account {
    /// The allowed share of one core's time, above 0.
    let share: Double
    /// Time spent beyond the allowance.
    var debt = TimeDelta.zero
    var updated = Timestamp.zero

    mutating func note(_ time: TimeDelta, now: Timestamp) {
      let earned = TimeDelta.seconds((now - updated).seconds * share)
      debt = max(.zero, debt - earned) + time
      updated = now
    }

    /// When the debt is no more than this, if nothing more is spent.
    func time(ofDebt limit: TimeDelta) -> Timestamp {
      debt <= limit ? .zero : updated + .seconds((debt - limit).seconds / share)
    }
  }

  private var own: Account
  /// Nil without a limit.
  private var process: Account?
  /// Processor time of the process since it began, as last read.
  private var read: TimeDelta?

  /// A first picture is not kept waiting.
  private static let advance = TimeDelta.milliseconds(300)
  /// The process may be so far beyond its limit: a frame that is encoded is no reason to stop.
  private static let processAdvance = TimeDelta.milliseconds(50)
  /// How long an excess counts.
  private static let memory = TimeDelta.seconds(Int64(1))

  /// - Parameters:
  ///   - share: of one core's time, for this work.
  ///   - limit: of one core's time, for the process; nil: as much as there is.
  package init(share: Double, limit: Double? = nil) {
    own = Account(share: min(1, max(0.01, share)))
    process = limit.map { Account(share: max(0.001, $0)) }
  }

  /// Work of `time` ended now.
  package mutating func note(_ time: TimeDelta, now: Timestamp) { own.note(time, now: now) }

  /// Whether there is a limit; if so, call `noteProcess` before `nextTurn`.
  package var hasLimit: Bool { process != nil }

  /// - Parameter time: what all threads of the process have spent since it began.
  package mutating func noteProcess(_ time: TimeDelta, now: Timestamp) {
    defer { read = time }
    guard var account = process else { return }
    account.note(read.map { time - $0 } ?? .zero, now: now)
    account.debt = min(account.debt, Self.processAdvance + .seconds(Self.memory.seconds * account.share))
    process = account
  }

  /// When there may be more of it.
  package var nextTurn: Timestamp {
    max(own.time(ofDebt: Self.advance), process?.time(ofDebt: Self.processAdvance) ?? .zero)
  }
}
