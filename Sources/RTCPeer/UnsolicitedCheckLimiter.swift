package import RTCPrimitives

/// Keeps the process from being used to send datagrams to others: a session's peer can name any address, and ICE sends checks
/// there before anybody has shown himself. Each IP address may be sent as many as came from it and a few beside, by all
/// sessions together, until it answers one. A machine: time comes with each call.
package struct UnsolicitedCheckLimiter {
  private struct Watch {
    /// Checks sent in this window.
    var sent = 0
    var received = 0
    /// Whether it answered a request within this window.
    var hasAnswered = false
  }

  private var window = Timestamp(nanoseconds: .min / 2)
  private var watches: [IPAddress: Watch] = [:]
  private var sentInAll = 0
  /// Checks that were not sent.
  package private(set) var refused: UInt64 = 0

  /// No checks yet.
  package init() {}

  /// Counts a request to `ip`, whose machine has not shown that it wants any.
  /// - Returns: false when it must not leave.
  package mutating func maySend(to ip: IPAddress, now: Timestamp) -> Bool {
    turnWindow(now)
    var watch = watches[ip] ?? Watch()
    if watch.hasAnswered { return true }
    guard watches[ip] != nil || watches.count < PeerLimits.watchedAddresses,
      watch.sent < PeerLimits.unsolicitedChecks + watch.received,
      watch.sent < watch.received || sentInAll < PeerLimits.unsolicitedChecksInAll
    else {
      refused += 1
      return false
    }
    watch.sent += 1
    if watch.sent > watch.received { sentInAll += 1 }
    watches[ip] = watch
    return true
  }

  /// An authentic request came from `ip`.
  package mutating func received(from ip: IPAddress, now: Timestamp) {
    turnWindow(now)
    guard watches[ip] != nil || watches.count < PeerLimits.watchedAddresses else { return }
    watches[ip, default: Watch()].received += 1
  }

  /// A machine at `ip` has answered a request.
  package mutating func answered(_ ip: IPAddress) {
    guard let watch = watches[ip], !watch.hasAnswered else { return }
    sentInAll = max(0, sentInAll - max(0, watch.sent - watch.received))
    watches[ip]?.hasAnswered = true
  }

  private mutating func turnWindow(_ now: Timestamp) {
    guard now - window >= PeerLimits.unsolicitedCheckWindow else { return }
    window = now
    watches.removeAll(keepingCapacity: true)
    sentInAll = 0
  }
}
