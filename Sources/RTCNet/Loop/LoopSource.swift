package import RTCPrimitives

/// Something with a file descriptor that an `EventLoop` waits for: a stream, a listener, news of the network. All calls come
/// on the loop's thread.
package protocol LoopSource: AnyObject, SendableMetatype {
  /// Open, and the same, from `EventLoop.watch` to `EventLoop.unwatch`.
  var descriptor: Int32 { get }
  /// The descriptor is ready for one of its watched operations.
  func ready(_ readiness: Poller.Readiness, now: Timestamp)
}
