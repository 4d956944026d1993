import Glibc
package import RTCPrimitives

/// A lock with a condition that threads wait for: POSIX's mutex and condition variable, on the monotonic clock. `Mutex`
/// has no condition. Any thread.
///
/// `@unchecked Sendable`: mutex and condition are made for many threads and stay at their address for life.
@safe
package final class Condition: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    unsafe mutex = .allocate(capacity: 1)
    unsafe mutex.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(mutex, nil)
    unsafe condition = .allocate(capacity: 1)
    unsafe condition.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(condition, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(condition)
    unsafe condition.deallocate()
    unsafe pthread_mutex_destroy(mutex)
    unsafe mutex.deallocate()
  }

  /// Runs `body` alone. Not reentrant: nothing that might take the same lock may be called in it.
  package func withLock<Result>(_ body: () -> Result) -> Result {
    unsafe pthread_mutex_lock(mutex)
    defer { unsafe pthread_mutex_unlock(mutex) }
    return body()
  }

  /// Only in `withLock`, whose lock is released meanwhile: sleeps until `broadcast` or `deadline` (nil or
  /// `distantFuture`: without limit). May wake without a reason: check the condition again.
  /// - Returns: false if `deadline` was reached.
  @discardableResult
  package func wait(until deadline: Timestamp?) -> Bool {
    guard let deadline, deadline < .distantFuture else {
      unsafe pthread_cond_wait(condition, mutex)
      return true
    }
    let nanoseconds = max(0, deadline.nanoseconds)
    var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    return unsafe pthread_cond_timedwait(condition, mutex, &time) != ETIMEDOUT
  }

  /// Only in `withLock`: wakes all who wait.
  package func broadcast() { unsafe pthread_cond_broadcast(condition) }
}
