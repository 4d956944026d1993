import Glibc
import RTCPrimitives

/// Lets one thread sleep until a moment of the monotonic clock or until another thread rings.
@safe
final class Waiter: @unchecked Sendable {
  // Invariant for `@unchecked Sendable`: `isRung` and `sleepsUntil` are only touched while `mutex` is held; the pthread
  // objects keep their address for as long as self lives.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>
  private var isRung = false
  /// What the sleeping thread waits for; nil while it does not sleep.
  private var sleepsUntil: Timestamp?

  init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe condition = .allocate(capacity: 1)
    unsafe pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe pthread_mutex_destroy(mutex)
    unsafe condition.deallocate()
    unsafe mutex.deallocate()
  }

  /// Returns at `deadline` (nil = never) or when rung, at once if that was since the last call.
  func wait(until deadline: Timestamp?) {
    unsafe pthread_mutex_lock(mutex)
    sleepsUntil = deadline ?? .distantFuture
    var isDue = false
    while !isRung && !isDue {
      if let deadline {
        let nanoseconds = max(0, deadline.nanoseconds)
        var time = timespec(
          tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        isDue = unsafe pthread_cond_timedwait(condition, mutex, &time) != 0
      } else {
        unsafe pthread_cond_wait(condition, mutex)
      }
    }
    isRung = false
    sleepsUntil = nil
    unsafe pthread_mutex_unlock(mutex)
  }

  /// Wakes the sleeper, or makes its next wait return at once.
  func ring() { ring(ifAsleepAfter: nil) }

  /// Wakes a sleeper that would sleep beyond `moment` (nil = any); one that is awake finds out by itself.
  func ring(ifAsleepAfter moment: Timestamp?) {
    unsafe pthread_mutex_lock(mutex)
    if let moment, let sleepsUntil, sleepsUntil <= moment {
      // It wakes early enough.
    } else {
      isRung = true
      unsafe pthread_cond_signal(condition)
    }
    unsafe pthread_mutex_unlock(mutex)
  }
}
