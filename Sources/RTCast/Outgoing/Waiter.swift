import RTCNet
import RTCPrimitives

/// Lets one thread sleep until a moment of the monotonic clock or until another thread rings. Any thread may ring.
final class Waiter: Sendable {
  private struct State {
    var isRung = false
    /// What the sleeping thread waits for; nil while it does not sleep.
    var sleepsUntil: Timestamp?
  }

  private let state = Monitor(State())

  /// Returns at `deadline` (nil = never) or when rung, at once if that was since the last call.
  func wait(until deadline: Timestamp?) {
    state.withLock { $0.sleepsUntil = deadline ?? .distantFuture }
    _ = state.wait(until: deadline) { state -> Void? in
      guard state.isRung else { return nil }
      state.isRung = false
      return ()
    }
    state.withLock { $0.sleepsUntil = nil }
  }

  /// Wakes the sleeper, or makes its next wait return at once.
  func ring() { ring(ifAsleepAfter: nil) }

  /// Wakes a sleeper that would sleep beyond `moment` (nil = any); one that is awake finds out by itself.
  func ring(ifAsleepAfter moment: Timestamp?) {
    // Who need not wake is not woken to look.
    let isEarlyEnough = state.withLock { state in
      guard let moment, let sleepsUntil = state.sleepsUntil else { return false }
      return sleepsUntil <= moment
    }
    if !isEarlyEnough { state.change { $0.isRung = true } }
  }
}
