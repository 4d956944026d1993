package import RTCPrimitives

/// Schedules ICE restarts of one side of a call, in addition to the one that the connection makes when its path breaks,
/// and the repetition of offers without an answer.
///
/// A change of network may interrupt signaling as well as the call, so that an offer or its answer is lost without
/// notice: both sides continue until the call is connected again. The callee waits a little longer, so that offers
/// seldom collide (if they do, perfect negotiation resolves it).
package struct RestartSchedule: Sendable {
  /// The next step.
  package enum Step: Sendable, Hashable {
    case restart
    /// Our offer is still unanswered: it may be lost.
    case repeatOffer
  }

  private enum Cause {
    /// The connection receives nothing.
    case interruption
    /// This machine has other addresses: not every remote peer follows to a new way without a restart.
    case otherAddresses
  }

  private let role: CallRole
  private var cause = Cause.interruption
  private var attempts = 0
  private var due: Timestamp?

  /// Makes the schedule of the side with this role.
  package init(role: CallRole) { self.role = role }

  /// The additional wait of the callee.
  static let courtesy = TimeDelta.seconds(1)
  /// For new addresses to be found.
  static let settling = TimeDelta.milliseconds(300)
  /// Between two attempts; doubles up to the longest. An attempt takes a few round trips by the hub.
  static let firstPause = TimeDelta.seconds(3)
  static let longestPause = TimeDelta.seconds(12)

  /// When `step` is wanted; nil while the call stands.
  package var deadline: Timestamp? { due }

  /// The connection receives nothing any more. Repeated calls have no effect.
  package mutating func interrupted(now: Timestamp) {
    let isNews = due == nil || cause == .otherAddresses
    cause = .interruption
    guard isNews else { return }
    attempts = 0
    due = min(due ?? .distantFuture, now + Self.firstPause + (role == .caller ? .zero : Self.courtesy))
  }

  /// This machine's addresses have changed.
  package mutating func networkChanged(now: Timestamp) {
    if due == nil { cause = .otherAddresses }
    attempts = 0
    due = now + Self.settling
  }

  /// The hub is back: what could not be said before may be said now.
  package mutating func signalingReturned(now: Timestamp) {
    guard due != nil else { return }
    due = now
  }

  /// The call stands again.
  package mutating func restored() { if cause == .interruption { due = nil } }

  /// Ends the schedule.
  package mutating func end() { due = nil }

  /// - Parameter isOffering: an offer of ours waits for its answer.
  /// - Returns: what to do; nil: nothing now.
  package mutating func step(isOffering: Bool, now: Timestamp) -> Step? {
    guard let due, due <= now else { return nil }
    if cause == .otherAddresses, attempts > 0, !isOffering {
      // An answer was applied.
      self.due = nil
      return nil
    }
    let pause = min(Self.firstPause.nanoseconds << Int64(min(attempts, 8)), Self.longestPause.nanoseconds)
    attempts += 1
    self.due = now + TimeDelta(nanoseconds: pause)
    return isOffering ? .repeatOffer : .restart
  }
}
