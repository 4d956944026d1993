import CLinux
import Glibc
import RTCPrimitives

/// A value behind a lock that threads can wait upon until it has changed. `Mutex` has no condition to wait for.
///
/// `@unchecked Sendable`: `value` is touched only while `lock` is held; lock and condition are made for many threads and
/// stay at their address for life.
@safe
final class Monitor<Value>: @unchecked Sendable {
  private let lock: UnsafeMutablePointer<pthread_mutex_t>
  private let changed: UnsafeMutablePointer<pthread_cond_t>
  private var value: Value

  init(_ value: Value) {
    self.value = value
    unsafe lock = .allocate(capacity: 1)
    unsafe lock.initialize(to: pthread_mutex_t())
    unsafe pthread_mutex_init(lock, nil)
    unsafe changed = .allocate(capacity: 1)
    unsafe changed.initialize(to: pthread_cond_t())
    var attributes = pthread_condattr_t()
    unsafe pthread_condattr_init(&attributes)
    unsafe pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    unsafe pthread_cond_init(changed, &attributes)
    unsafe pthread_condattr_destroy(&attributes)
  }

  deinit {
    unsafe pthread_cond_destroy(changed)
    unsafe changed.deallocate()
    unsafe pthread_mutex_destroy(lock)
    unsafe lock.deallocate()
  }

  /// Runs `body` alone. Nothing that might call back may be called in it.
  func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    return body(&value)
  }

  /// As `withLock`, and wakes all who wait.
  func change<Result>(_ body: (inout Value) -> Result) -> Result {
    unsafe pthread_mutex_lock(lock)
    defer {
      unsafe pthread_cond_broadcast(changed)
      unsafe pthread_mutex_unlock(lock)
    }
    return body(&value)
  }

  /// Runs `body` now and after each change until it returns a result; nil once it is `deadline` (nil: never).
  func wait<Result>(until deadline: Timestamp?, _ body: (inout Value) -> Result?) -> Result? {
    unsafe pthread_mutex_lock(lock)
    defer { unsafe pthread_mutex_unlock(lock) }
    while true {
      if let result = body(&value) { return result }
      guard let deadline else {
        unsafe pthread_cond_wait(changed, lock)
        continue
      }
      var time = timespec(
        tv_sec: Int(deadline.nanoseconds / 1_000_000_000), tv_nsec: Int(deadline.nanoseconds % 1_000_000_000))
      if unsafe pthread_cond_timedwait(changed, lock, &time) == ETIMEDOUT { return body(&value) }
    }
  }
}
