package import RTCPrimitives

/// When one side of a call restarts ICE, beside the restart that its connection makes once when the way breaks, and when it
/// says an offer again that nobody has answered.
///
/// Signaling may be interrupted by the same change of network as the call, so that an offer or its answer is lost in
/// silence: both sides go on until the call stands again. The callee waits a moment longer, so that the two offers seldom
/// meet (when they do, perfect negotiation settles it).
package struct RestartSchedule: Sendable {
  /// What to do.
  package enum Step: Sendable, Hashable {
    case restart
    /// Our offer is still unanswered: it may be lost.
    case repeatOffer
  }

  private enum Cause {
    /// Nothing gets through.
    case interruption
    /// This machine has other addresses: not every remote peer follows to a new way without a restart.
    case otherAddresses
  }

  private let role: CallRole
  private var cause = Cause.interruption
  private var attempts = 0
  private var due: Timestamp?

  /// Of the side that has this role in the call.
  package init(role: CallRole) { self.role = role }

  /// That the callee leaves to the caller.
  static let courtesy = TimeDelta.seconds(1)
  /// For new addresses to be found.
  static let settling = TimeDelta.milliseconds(300)
  /// Between two attempts; doubles up to the longest. An attempt takes a few round trips by the hub.
  static let firstPause = TimeDelta.seconds(3)
  static let longestPause = TimeDelta.seconds(12)

  /// When `step` is wanted; nil while the call stands.
  package var deadline: Timestamp? { due }

  /// Nothing gets through any more. Telling it again changes nothing.
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

  /// There is nothing left to restart.
  package mutating func end() { due = nil }

  /// - Parameter isOffering: an offer of ours waits for its answer.
  /// - Returns: what to do; nil: nothing now.
  package mutating func step(isOffering: Bool, now: Timestamp) -> Step? {
    guard let due, due <= now else { return nil }
    if cause == .otherAddresses, attempts > 0, !isOffering {
      // It is agreed.
      self.due = nil
      return nil
    }
    let pause = min(Self.firstPause.nanoseconds << Int64(min(attempts, 8)), Self.longestPause.nanoseconds)
    attempts += 1
    self.due = now + TimeDelta(nanoseconds: pause)
    return isOffering ? .repeatOffer : .restart
  }
}
