package import RTCPrimitives

/// When one side of an interrupted call restarts ICE, and when it says an offer again that nobody has answered.
///
/// Signaling may be interrupted by the same change of network as the call, so that an offer or its answer is lost in
/// silence: both sides go on until the call stands again. The caller begins; the callee waits a moment, so that the two
/// offers seldom meet (when they do, perfect negotiation settles it).
package struct RestartSchedule: Sendable {
  /// What to do.
  package enum Step: Sendable, Hashable {
    case restart
    /// Our offer is still unanswered: it may be lost.
    case repeatOffer
  }

  private let role: CallRole
  private var attempts = 0
  private var due: Timestamp?

  /// Of the side that has this role in the call.
  package init(role: CallRole) { self.role = role }

  /// That the callee leaves to the caller.
  static let courtesy = TimeDelta.seconds(1)
  /// Between two attempts; doubles up to the longest. An attempt takes a few round trips by the hub.
  static let firstPause = TimeDelta.seconds(3)
  static let longestPause = TimeDelta.seconds(12)

  /// When `step` is wanted; nil while the call stands.
  package var deadline: Timestamp? { due }

  /// Nothing gets through any more. Telling it again changes nothing.
  package mutating func interrupted(now: Timestamp) {
    guard due == nil else { return }
    attempts = 0
    due = role == .caller ? now : now + Self.courtesy
  }

  /// The network or the hub is back: what failed before may work now.
  package mutating func hurry(now: Timestamp) {
    guard due != nil else { return }
    attempts = 0
    due = now
  }

  /// The call stands again.
  package mutating func restored() { due = nil }

  /// - Parameter isOffering: an offer of ours waits for its answer.
  /// - Returns: what to do; nil: it is not time yet.
  package mutating func step(isOffering: Bool, now: Timestamp) -> Step? {
    guard let due, due <= now else { return nil }
    let pause = min(Self.firstPause.nanoseconds << Int64(min(attempts, 8)), Self.longestPause.nanoseconds)
    attempts += 1
    self.due = now + TimeDelta(nanoseconds: pause)
    return isOffering ? .repeatOffer : .restart
  }
}
