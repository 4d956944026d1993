package import RTCPrimitives

/// The part of a session in `LoadShares`. Kept by the session, changed by `LoadShares` alone.
package struct SessionLoad: Sendable {
  /// How the session's datagrams are treated.
  package enum Standing: Sendable {
    /// They are handled as they come, and their cost is measured with the cheap clock.
    case usual
    /// They are handled as they come, and their cost is measured with the processor clock of the thread.
    case watched
    /// They wait until everything else is done, and are dropped beyond an allowance.
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

  /// Nothing was spent.
  package init() {}
}

/// A session whose datagrams cost time.
package protocol LoadBearer: AnyObject {
  /// Kept for `LoadShares`.
  var load: SessionLoad { get set }
}

/// Measures what the datagrams of each session cost a loop, and finds the sessions that take more than their share.
///
/// Time is divided into windows. A session's share is found at the end of each window, as part of the time that the loop could
/// have worked: its processor time, and the time that it waited for something to do. Time during which the machine ran
/// something else does not count, so that a busy machine makes nobody look expensive. While all datagrams together take less than
/// `contended` of that time, no session is above its share. Above it, sessions that cost little get what they cost, and the
/// others the same share each (max-min fairness).
///
/// A session above its share is first watched for a window: its cost is measured with the processor clock of the thread. If it
/// is above its share by that clock too, it is deferred. A deferred session that asks for half as much again as it is allowed, in
/// every window of `patience`, and for many times what half of the sessions cost, is to be ended. Senders that heed congestion slow
/// down long before: a third of their packets is lost.
package struct LoadShares<Session: LoadBearer> {
  /// The length of a window. A window ends with the first call after it.
  package static var window: TimeDelta { .milliseconds(250) }
  /// All datagrams together may take this part of the loop's time before anybody's share is looked at.
  package static var contended: Double { 0.25 }
  /// Deferred sessions get what is left of this part of the loop's time.
  package static var served: Double { 0.5 }
  /// A session that takes less than this part of the loop's time is never above its share: a viewer takes a twentieth of it.
  package static var floor: Double { 0.02 }
  /// Windows within its share after which a deferred session is treated as usual again.
  package static var calm: Int { 4 }
  /// Windows far above its share after which a session is to be ended: five seconds.
  package static var patience: Int { 20 }
  /// A session is only ended if it asks for at least so many times what the median session costs.
  package static var medianFactor: Int64 { 8 }
  /// Processor time that a deferred session may use at once.
  package static var slice: TimeDelta { .milliseconds(1) }

  /// The sessions that cost something in the present window, and those that are not usual.
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

  /// The moment from which on `endWindow` is to be called; `.distantFuture` while nothing was spent.
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
  ///   - processorTime: the processor time that the loop's thread has used so far.
  ///   - idleTime: the time that the loop has waited for something to do so far.
  ///   - sessions: how many there are, those included that cost nothing.
  /// - Returns: the sessions that are to be ended.
  package mutating func endWindow(
    now: Timestamp, processorTime: TimeDelta, idleTime: TimeDelta, sessions: Int
  ) -> [Session] {
    let worked = max(.zero, processorTime - self.processorTime)
    let idle = max(.zero, idleTime - self.idleTime)
    let capacity = max(.milliseconds(1), worked + idle)
    // The cheap clock goes on while the machine runs something else: what it has counted too much is spread over all.
    let busy = max(worked, now - began - idle)
    let scale = busy > .zero ? min(1, worked.seconds / busy.seconds) : 1
    let costs = noted.map { cost(of: $0, scale) }
    let shares = shares(of: costs, capacity.seconds, sessions)
    var ending: [Session] = []
    for (session, cost) in zip(noted, costs) {
      let isAbove = cost > max(shares.contended, Self.floor * capacity.seconds)
      if judge(session, cost, isAbove: isAbove, median: shares.median) { ending.append(session) }
      session.load.allowance = .seconds(max(shares.served, Self.floor * capacity.seconds))
      (session.load.spent, session.load.handled, session.load.dropped) = (.zero, 0, 0)
      session.load.isNoted = session.load.standing != .usual
    }
    noted.removeAll { !$0.load.isNoted }
    began = now
    (self.processorTime, self.idleTime) = (processorTime, idleTime)
    return ending
  }

  /// What a session asked for in the window, in seconds of processor time.
  private func cost(of session: Session, _ scale: Double) -> Double {
    if session.load.handled > 0 { session.load.meanCost = session.load.spent / Int64(session.load.handled) }
    switch session.load.standing {
    case .usual: return session.load.spent.seconds * scale
    case .watched: return session.load.spent.seconds
    case .deferred:
      return session.load.spent.seconds + Double(session.load.dropped) * session.load.meanCost.seconds
    }
  }

  /// The greatest cost that is within a session's share, with the loop as busy as may be and with what deferred sessions get;
  /// infinite where all get what they ask for. The median is that of all sessions but one.
  private func shares(
    of costs: [Double], _ capacity: Double, _ sessions: Int
  ) -> (contended: Double, served: Double, median: Double) {
    let ascending = costs.sorted()
    // Sessions without a cost come first.
    let others = max(sessions, ascending.count) - 1
    let silent = others + 1 - ascending.count
    let middle = (others - 1) / 2 - silent
    let median = others > 0 && ascending.indices.contains(middle) ? ascending[middle] : 0
    // One session alone is in nobody's way.
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
  private func judge(_ session: Session, _ cost: Double, isAbove: Bool, median: Double) -> Bool {
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
