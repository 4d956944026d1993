package import RTCPrimitives

/// A value behind a lock that threads can wait upon until it has changed. `Mutex` has no condition to wait for.
/// Any thread.
///
/// `@unchecked Sendable`: `value` is touched only under the lock of `condition`.
package final class Monitor<Value>: @unchecked Sendable {
  private let condition = Condition()
  private var value: Value

  package init(_ value: Value) { self.value = value }

  /// Runs `body` alone. Nothing that might call back may be called in it.
  package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
    condition.withLock { body(&value) }
  }

  /// As `withLock`, and wakes all who wait.
  package func change<Result>(_ body: (inout Value) -> Result) -> Result {
    condition.withLock {
      defer { condition.broadcast() }
      return body(&value)
    }
  }

  /// Runs `body` now and after each change until it returns a result; nil once it is `deadline` (nil: never).
  package func wait<Result>(until deadline: Timestamp?, _ body: (inout Value) -> Result?) -> Result? {
    condition.withLock {
      while true {
        if let result = body(&value) { return result }
        if !condition.wait(until: deadline) { return body(&value) }
      }
    }
  }
}
