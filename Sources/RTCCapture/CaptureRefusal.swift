package import RTCMedia
package import RTCNet

extension WorkerThread {
  /// Starts a capturer's run; `body` returns soon after `run.isStopped`.
  /// - Throws: `alreadyStarted` while one is running, `unavailable` when the system has no thread or descriptor left.
  package func startCapture(
    name: String, _ body: @escaping @Sendable (WorkerRun) -> Void
  ) throws(CaptureError) {
    let isNew: Bool
    do throws(SystemError) { isNew = try start(name: name, body) } catch { throw CaptureError(error) }
    if !isNew { throw .alreadyStarted }
  }
}

extension CaptureError {
  /// Makes the capture error of a system error.
  package init(_ error: SystemError) { self = .unavailable(error.description) }
}
