/// The "negotiation-needed flag" (W3C WebRTC §4.7.3): whether the owner was told that an offer is due, and whether a
/// batch of changes defers it.
struct NegotiationNeededFlag {
  private enum State {
    case quiet
    case told
  }

  private enum Batch {
    case none
    /// Changes are gathered for one notice.
    case open
  }

  private var state = State.quiet
  private var batch = Batch.none

  mutating func startBatch() { batch = .open }
  /// Ends the batch. The event is repeated if it was sent before, since an owner that looked meanwhile found nothing to
  /// do.
  mutating func commitBatch() {
    if case .open = batch { state = .quiet }
    batch = .none
  }

  /// True while a batch is open.
  var isHeld: Bool { if case .open = batch { true } else { false } }

  /// Resets the flag after an agreement or rollback: a need is reported again.
  mutating func reset() { state = .quiet }

  /// - Returns: true if the event is to be sent now.
  mutating func update(isNeeded: Bool) -> Bool {
    guard isNeeded else {
      state = .quiet
      return false
    }
    guard case .quiet = state, case .none = batch else { return false }
    state = .told
    return true
  }
}
