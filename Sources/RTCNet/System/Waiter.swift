package import RTCPrimitives

/// Lets one thread sleep until a moment of the monotonic clock or until another thread rings.
///
/// `@unchecked Sendable`: `isRung` and `sleepsUntil` are touched only under the lock of `condition`.
package final class Waiter: @unchecked Sendable {
  private let condition = Condition()
  private var isRung = false
  /// The deadline of the sleeping thread; nil while it does not sleep.
  private var sleepsUntil: Timestamp?

  package init() {}

  /// Returns at `deadline` (nil = never) or when rung, at once if that was since the last call.
  package func wait(until deadline: Timestamp?) {
    condition.withLock {
      sleepsUntil = deadline ?? .distantFuture
      while !isRung, condition.wait(until: sleepsUntil) {}
      isRung = false
      sleepsUntil = nil
    }
  }

  /// Whether a thread sleeps now, for tests.
  package var isAsleep: Bool { condition.withLock { sleepsUntil != nil } }

  /// Wakes the sleeper, or makes its next wait return at once.
  package func ring() { ring(ifAsleepAfter: nil) }

  /// Has a sleeper that would sleep beyond `moment` return then (nil = now); one that is awake returns at once the next time.
  package func ring(ifAsleepAfter moment: Timestamp?) {
    condition.withLock {
      if let moment, let end = sleepsUntil {
        guard moment < end else { return }
        sleepsUntil = moment
      } else {
        isRung = true
      }
      condition.broadcast()
    }
  }
}
