/// Whether the owner was told that an offer is due ("negotiation-needed flag", W3C WebRTC §4.7.3), and whether it wants to
/// hear of it at all just now.
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
  /// Told anew, if it was told before: who looked while the batch was open, found nothing to do.
  mutating func commitBatch() {
    if case .open = batch { state = .quiet }
    batch = .none
  }

  /// True while a batch is open.
  var isHeld: Bool { if case .open = batch { true } else { false } }

  /// Something was agreed or rolled back: what is needed now is to be told anew.
  mutating func reset() { state = .quiet }

  /// - Returns: true when the owner is to be told now.
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
