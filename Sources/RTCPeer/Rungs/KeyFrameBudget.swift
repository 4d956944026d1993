import RTCEngine
import RTCPrimitives

/// The budget of key frames that one viewer may cause: a few at once, for a viewer that loses some packets, then few,
/// for one that asks without end. A request beyond the budget is delayed, never dropped. Sans-IO: the time is an
/// argument.
struct KeyFrameBudget {
  /// On what others watch, alone, and to begin with.
  private var shared = PeerLimits.Account()
  private var own = PeerLimits.Account()
  private var beginnings = PeerLimits.Account()

  /// When the viewer may have one; the past where it may now.
  func earliest(_ reason: KeyFrameReason, isShared: Bool) -> Timestamp {
    if reason == .begin { return beginnings.earliest(PeerLimits.firstKeyFrames) }
    return isShared ? shared.earliest(PeerLimits.sharedKeyFrames) : own.earliest(PeerLimits.ownKeyFrames)
  }

  /// One is made for it.
  mutating func take(_ reason: KeyFrameReason, isShared: Bool, now: Timestamp) {
    if reason == .begin { return beginnings.take(PeerLimits.firstKeyFrames, now: now) }
    if isShared {
      shared.take(PeerLimits.sharedKeyFrames, now: now)
    } else {
      own.take(PeerLimits.ownKeyFrames, now: now)
    }
  }
}
