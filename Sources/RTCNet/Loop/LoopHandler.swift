package import RTCPrimitives

/// What an `EventLoop` drives. All calls come on the loop's thread, one at a time.
///
/// After each wake-up the loop hands over the datagrams that wait, runs what was posted, reports a deadline that has
/// come, and then calls `endOfBatch` once.
package protocol LoopHandler: AnyObject, SendableMetatype {
  /// A datagram has arrived. `bytes` may be changed in place and is gone after the call.
  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp)
  /// `nextDeadline` has come. The handler must move it on, else the loop spins.
  func deadlineReached(now: Timestamp)
  /// Everything at hand has been delivered: the moment to send what has gathered, by `EventLoop.send`.
  func endOfBatch(now: Timestamp)
  /// When to call `deadlineReached`; read after every `endOfBatch`. `distantFuture` means never.
  var nextDeadline: Timestamp { get }
  /// The loop has ended, and nothing of the above is called any more: the handler lets go of what holds the handler.
  func loopEnded()
}

extension LoopHandler {
  package func loopEnded() {}
}
