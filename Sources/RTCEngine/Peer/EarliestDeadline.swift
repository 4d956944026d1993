package import RTCPrimitives

/// The earliest of several deadlines, and whose it is.
package struct EarliestDeadline<Timer> {
  /// `.distantFuture` when nothing is due.
  package private(set) var time = Timestamp.distantFuture
  package private(set) var timer: Timer?

  package init() {}

  /// Considers a timer. If several have the same time, the first is kept.
  package mutating func consider(_ deadline: Timestamp, _ candidate: Timer) {
    guard deadline < time else { return }
    time = deadline
    timer = candidate
  }
}
