internal import RTCCapture
internal import RTCNet
package import RTCPrimitives

/// Which clock a player follows.
package enum PlaybackClock: Sendable {
  case monotonic
  /// Time stands while any thread of the player works and leaps to the next deadline when all wait: files play as fast
  /// as their consumers take them, and every time can be told beforehand.
  case asFastAsConsumed(from: Timestamp, costs: PlaybackCosts = PlaybackCosts())
}

/// The time that work takes on a virtual clock, for tests of overload.
package struct PlaybackCosts: Sendable {
  /// The time to decode a picture.
  package var decoding: TimeDelta
  /// The time that the consumer needs for a picture.
  package var consuming: TimeDelta

  package init(decoding: TimeDelta = .zero, consuming: TimeDelta = .zero) {
    self.decoding = decoding
    self.consuming = consuming
  }
}

/// Whether a thread may go on, or how long it waits if nothing changes before.
enum Wait<Result> {
  case ready(Result)
  case until(Timestamp?)
}

/// The state that a player's threads share: changed under one lock, awaited by one condition.
///
/// `@unchecked Sendable`: `state`, `time` and `seats` are touched only under the lock of `condition`.
final class PlaybackMonitor<State>: @unchecked Sendable {
  private enum Time {
    case real
    case virtual(Timestamp)
  }

  /// A thread of the player, by its run's number; where it waits, until when.
  private enum Seat {
    case working
    case waiting(Timestamp?)
  }

  private let condition = Condition()
  private var state: State
  private var time: Time
  private let costs: PlaybackCosts
  private var seats: [Int: Seat] = [:]

  init(_ state: State, clock: PlaybackClock) {
    self.state = state
    switch clock {
    case .monotonic:
      time = .real
      costs = PlaybackCosts()
    case .asFastAsConsumed(let start, let costs):
      time = .virtual(start)
      self.costs = costs
    }
  }

  /// Changes the state and wakes every thread to look at it.
  func change<Result>(_ body: (inout State, Timestamp) -> Result) -> Result {
    condition.withLock {
      let result = body(&state, now)
      wakeAll()
      return result
    }
  }

  /// Changes what no other thread waits for.
  func note<Result>(_ body: (inout State, Timestamp) -> Result) -> Result {
    condition.withLock { body(&state, now) }
  }

  func read<Result>(_ body: (borrowing State, Timestamp) -> Result) -> Result {
    condition.withLock { body(state, now) }
  }

  /// Asks `step` again and again, at each change and at the time it named, until it is ready. `step` may change the
  /// state; the other threads look at it when `step` is ready. One that is not ready changes nothing they wait for: they
  /// may have looked already, and would wait for ever.
  func wait<Result>(seat: Int, _ step: (inout State, Timestamp) -> Wait<Result>) -> Result {
    condition.withLock {
      while true {
        switch step(&state, now) {
        case .ready(let result):
          wakeAll()
          return result
        case .until(let deadline): sleep(seat, until: deadline)
        }
      }
    }
  }

  /// Lets the time go by that work of a kind takes on virtual time, or until `seat` is left.
  func spend(_ cost: KeyPath<PlaybackCosts, TimeDelta>, seat: Int) {
    let cost = costs[keyPath: cost]
    guard cost > .zero else { return }
    condition.withLock {
      let end = now + cost
      while seats[seat] != nil, now < end { sleep(seat, until: end) }
    }
  }

  /// The thread of `seat` takes part from now on.
  func enter(_ seat: Int) {
    condition.withLock { seats[seat] = .working }
  }

  /// It is gone. Safe to say again.
  func leave(_ seat: Int) {
    condition.withLock {
      seats[seat] = nil
      if !leap() { condition.broadcast() }
    }
  }

  private var now: Timestamp {
    switch time {
    case .real: MonotonicClock.now()
    case .virtual(let now): now
    }
  }

  private func wakeAll() {
    // All count as working until they have looked.
    for seat in seats.keys { seats[seat] = .working }
    condition.broadcast()
  }

  private func sleep(_ seat: Int, until deadline: Timestamp?) {
    guard case .virtual = time else {
      condition.wait(until: deadline)
      return
    }
    if seats[seat] != nil { seats[seat] = .waiting(deadline) }
    if leap() { return }
    condition.wait(until: nil)
  }

  /// Virtual time goes to the next deadline when everybody waits; true when it did.
  @discardableResult
  private func leap() -> Bool {
    guard case .virtual(let now) = time else { return false }
    var next: Timestamp?
    for seat in seats.values {
      guard case .waiting(let deadline) = seat else { return false }
      if let deadline { next = min(next ?? deadline, deadline) }
    }
    guard let next else { return false }
    time = .virtual(max(now, next))
    wakeAll()
    return true
  }
}
