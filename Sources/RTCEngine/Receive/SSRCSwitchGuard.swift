package import RTCPrimitives

/// Decides about changes of a received track's source (SSRC), after a restart of the sender. A change is accepted at
/// once, but neither late packets of the source before nor a storm of new sources may reset the track repeatedly.
package struct SSRCSwitchGuard {
  /// Changes closer together than this are a storm.
  private static let interval = TimeDelta.milliseconds(200)
  /// A source is over when it was silent for so long, and the one before it may come back.
  private static let silence = TimeDelta.seconds(1)

  private var changed = Timestamp(nanoseconds: .min / 2)
  private var heard = Timestamp(nanoseconds: .min / 2)
  private var former: SSRC?

  package init() {}

  /// True when a packet of `ssrc` begins a new stream in the place of `current`'s.
  package mutating func accepts(_ ssrc: SSRC, after current: SSRC?, now: Timestamp) -> Bool {
    guard let current else {
      heard = now
      return true
    }
    let isSilent = now - heard >= Self.silence
    guard isSilent || (ssrc != former && now - changed >= Self.interval) else { return false }
    former = current
    changed = now
    heard = now
    return true
  }

  package mutating func hear(_ now: Timestamp) { heard = now }
}
