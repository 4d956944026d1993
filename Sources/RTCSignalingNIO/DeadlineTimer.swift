package import NIOCore
package import RTCPrimitives

/// Wakes a machine at the deadline it named last, on its event loop and at the loop's own time.
package final class DeadlineTimer {
  private let eventLoop: any EventLoop
  private var pending: (due: Timestamp, task: Scheduled<Void>)?

  package init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  package static var now: Timestamp { Timestamp(nanoseconds: Int64(clamping: NIODeadline.now().uptimeNanoseconds)) }

  /// Calls `wake` at `due`, or earlier: at a deadline that was named before and has been put off since.
  /// - Parameter due: nil: never.
  package func set(_ due: Timestamp?, _ wake: @escaping () -> Void) {
    guard let due else {
      pending?.task.cancel()
      pending = nil
      return
    }
    if let pending, pending.due <= due { return }
    pending?.task.cancel()
    let deadline = NIODeadline.uptimeNanoseconds(UInt64(max(0, due.nanoseconds)))
    let task = eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { [weak self] in
      self?.pending = nil
      wake()
    }
    pending = (due, task)
  }
}
