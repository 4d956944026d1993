package import RTCPrimitives

/// The part of a session in `LoadShares`. Kept by the session, changed by `LoadShares` alone.
package struct SessionLoad: Sendable {
  /// How the session's datagrams are treated.
  package enum Standing: Sendable {
    /// Datagrams are handled as they arrive; their cost is measured with the cheap clock.
    case usual
    /// Datagrams are handled as they arrive; their cost is measured with the thread's processor clock.
    case watched
    /// Datagrams wait until all other work is done, and are dropped beyond an allowance.
    case deferred
  }

  /// How its datagrams are treated now.
  package fileprivate(set) var standing = Standing.usual
  /// Time that its datagrams took in the present window.
  fileprivate var spent = TimeDelta.zero
  /// Datagrams handled in the present window.
  fileprivate var handled = 0
  /// Datagrams dropped in the present window.
  fileprivate var dropped = 0
  /// The mean cost of a datagram, as last measured.
  fileprivate var meanCost = TimeDelta.zero
  /// Processor time for the present window, of a deferred session.
  fileprivate var allowance = TimeDelta.zero
  /// Windows in a row in which it was within its share, or far beyond it.
  fileprivate var calmWindows = 0
  fileprivate var excessiveWindows = 0
  fileprivate var isNoted = false

  /// Makes an empty load.
  package init() {}
}

/// A session whose datagrams cost time.
package protocol LoadBearer: AnyObject {
  /// Kept for `LoadShares`.
  var load: SessionLoad { get set }
}

/// Measures the processor cost of each session's datagrams, and finds the sessions above their share.
///
/// Time is divided into windows. At the end of each window, a session's share is computed as a part of the loop's
/// available time: its processor time and its idle time. Time in which the machine ran other programs does not count,
/// so that a busy machine makes no session look expensive. While all datagrams together take less than `contended` of
/// that time, no session is above its share. Beyond it, sessions of low cost keep their cost, and the others get equal
/// shares (max-min fairness).
///
/// A session above its share is first watched for a window: its cost is measured with the thread's processor clock. If
/// it is above its share by that clock too, it is deferred. A deferred session that needs 1.5 times its allowance in
/// every window of `patience`, and many times the cost of the median session, is to be ended. Senders with congestion
/// control slow down long before, as a third of their packets is lost.
package struct LoadShares<Session: LoadBearer> {
  /// The length of a window. A window ends with the first call after it.
  package static var window: TimeDelta { .milliseconds(250) }
  /// All datagrams together may take this part of the loop's time before anybody's share is looked at.
  package static var contended: Double { 0.25 }
  /// The part of the loop's time of which deferred sessions get the rest.
  package static var served: Double { 0.5 }
  /// A session that takes less than this part of the loop's time is never above its share: a viewer takes a twentieth of it.
  package static var floor: Double { 0.02 }
  /// Windows within its share after which a deferred session is treated as usual again.
  package static var calm: Int { 4 }
  /// The number of windows far above its share after which a session is ended: five seconds.
  package static var patience: Int { 20 }
  /// A session is ended only if it needs at least this many times the cost of the median session.
  package static var medianFactor: Int64 { 8 }
  /// Processor time that a deferred session may use at once.
  package static var slice: TimeDelta { .milliseconds(1) }

  /// The sessions with a cost in the present window, and those that are not usual.
  private var noted: [Session] = []
  private var began: Timestamp
  private var processorTime = TimeDelta.zero
  private var idleTime = TimeDelta.zero

  /// - Parameters:
  ///   - processorTime: the processor time that the loop's thread has used so far.
  ///   - idleTime: the time that the loop has waited for something to do so far.
  package init(now: Timestamp, processorTime: TimeDelta = .zero, idleTime: TimeDelta = .zero) {
    began = now
    (self.processorTime, self.idleTime) = (processorTime, idleTime)
  }

  /// The time at which `endWindow` is due; `.distantFuture` while there was no cost.
  package var windowEnd: Timestamp { noted.isEmpty ? .distantFuture : began + Self.window }

  /// A datagram of a session was handled in this time.
  package mutating func charge(_ cost: TimeDelta, to session: Session) {
    note(session)
    session.load.spent = session.load.spent + max(.zero, cost)
    session.load.handled += 1
  }

  /// A datagram of a deferred session was dropped.
  package mutating func countDropped(of session: Session) {
    note(session)
    session.load.dropped += 1
  }

  private mutating func note(_ session: Session) {
    guard !session.load.isNoted else { return }
    session.load.isNoted = true
    noted.append(session)
  }

  /// Whether a deferred session may have a datagram handled now: its allowance grows with the window.
  package func mayHandle(of session: Session, now: Timestamp) -> Bool {
    let part = min(1, max(0, (now - began).seconds / Self.window.seconds))
    return session.load.spent.seconds < session.load.allowance.seconds * part + Self.slice.seconds
  }

  /// A session has ended.
  package mutating func forget(_ session: Session) {
    guard session.load.isNoted else { return }
    noted.removeAll { $0 === session }
    session.load = SessionLoad()
  }

  /// Ends the window and begins the next.
  /// - Parameters:
  ///   - processorTime: the processor time of the loop's thread so far.
  ///   - idleTime: the idle time of the loop so far.
  ///   - sessions: the number of sessions, including those without cost.
  /// - Returns: the sessions to end.
  package mutating func endWindow(
    now: Timestamp, processorTime: TimeDelta, idleTime: TimeDelta, sessions: Int
  ) -> [Session] {
    let worked = max(.zero, processorTime - self.processorTime)
    let idle = max(.zero, idleTime - self.idleTime)
    let capacity = max(.milliseconds(1), worked + idle)
    // The cheap clock continues while the machine runs other programs: the excess is distributed over all sessions.
    let busy = max(worked, now - began - idle)
    let scale = busy > .zero ? min(1, worked.seconds / busy.seconds) : 1
    let costs = noted.map { cost(of: $0, scale) }
    let shares = shares(of: costs, capacity.seconds, sessions)
    var ending: [Session] = []
    for (session, cost) in zip(noted, costs) {
      let isAbove = cost > max(shares.contended, Self.floor * capacity.seconds)
      if evaluate(session, cost, isAbove: isAbove, median: shares.median) { ending.append(session) }
      session.load.allowance = .seconds(max(shares.served, Self.floor * capacity.seconds))
      (session.load.spent, session.load.handled, session.load.dropped) = (.zero, 0, 0)
      session.load.isNoted = session.load.standing != .usual
    }
    noted.removeAll { !$0.load.isNoted }
    began = now
    (self.processorTime, self.idleTime) = (processorTime, idleTime)
    return ending
  }

  /// A session's demand in the window, in seconds of processor time.
  private func cost(of session: Session, _ scale: Double) -> Double {
    if session.load.handled > 0 { session.load.meanCost = session.load.spent / Int64(session.load.handled) }
    switch session.load.standing {
    case .usual: return session.load.spent.seconds * scale
    case .watched: return session.load.spent.seconds
    case .deferred:
      return session.load.spent.seconds + Double(session.load.dropped) * session.load.meanCost.seconds
    }
  }

  /// The largest cost within a session's share, at the maximum load of the loop and with the allowance of deferred
  /// sessions; infinite if all demands can be met. The median excludes one session.
  private func shares(
    of costs: [Double], _ capacity: Double, _ sessions: Int
  ) -> (contended: Double, served: Double, median: Double) {
    let ascending = costs.sorted()
    // Sessions without a cost come first.
    let others = max(sessions, ascending.count) - 1
    let silent = others + 1 - ascending.count
    let middle = (others - 1) / 2 - silent
    let median = others > 0 && ascending.indices.contains(middle) ? ascending[middle] : 0
    // A single session slows down no other.
    guard others > 0 else { return (.infinity, Self.served * capacity, 0) }
    return (
      Self.level(ascending, Self.contended * capacity) ?? .infinity,
      Self.level(ascending, Self.served * capacity) ?? Self.served * capacity, median
    )
  }

  /// How much each may have at most, so that all together have `room`; nil where there is enough for all.
  private static func level(_ ascending: [Double], _ room: Double) -> Double? {
    var left = room
    for (index, cost) in ascending.enumerated() {
      let fair = left / Double(ascending.count - index)
      guard cost <= fair else { return fair }
      left -= cost
    }
    return nil
  }

  /// - Returns: whether the session is to be ended.
  private func evaluate(_ session: Session, _ cost: Double, isAbove: Bool, median: Double) -> Bool {
    switch session.load.standing {
    case .usual: if isAbove { session.load.standing = .watched }
    case .watched:
      session.load.standing = isAbove ? .deferred : .usual
      (session.load.calmWindows, session.load.excessiveWindows) = (0, 0)
    case .deferred:
      session.load.calmWindows = isAbove ? 0 : session.load.calmWindows + 1
      let isExcessive =
        isAbove && 2 * session.load.dropped >= session.load.handled
        && cost >= 1.5 * session.load.allowance.seconds && cost >= Double(Self.medianFactor) * median
      session.load.excessiveWindows = isExcessive ? session.load.excessiveWindows + 1 : 0
      if session.load.calmWindows >= Self.calm { session.load.standing = .usual }
      return session.load.excessiveWindows >= Self.patience
    }
    return false
  }
}
