package import RTCPrimitives

/// The user of an `EventLoop`. All calls come on the loop's thread, one at a time.
///
/// After each wake-up the loop delivers the waiting datagrams, runs posted work, reports a reached deadline, and then
/// calls `endOfBatch` once.
package protocol LoopHandler: AnyObject, SendableMetatype {
  /// A datagram has arrived. `bytes` may be changed in place and is gone after the call.
  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp)
  /// `nextDeadline` has come. The handler must move it on, else the loop spins.
  func deadlineReached(now: Timestamp)
  /// All events of this turn were delivered: send the collected datagrams by `EventLoop.send`.
  func endOfBatch(now: Timestamp)
  /// When to call `deadlineReached`; read after every `endOfBatch`. `distantFuture` means never.
  var nextDeadline: Timestamp { get }
  /// The loop has ended, and no further call follows: release everything that refers to the handler.
  func loopEnded()
}

extension LoopHandler {
  package func loopEnded() {}
}
