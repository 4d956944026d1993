import RTCEngine
import RTCPrimitives

/// The numbers of the rules by which viewers change rungs.
package enum RungPolicy {
  /// The minimum bandwidth of a viewer, as a share of the best rate on the main rung. A viewer below it does not count
  /// for the main rung's rate, is not moved to it, and is moved off when the content needs more than its bandwidth.
  static let leastShare = 0.6
  /// The bandwidth that a viewer that was moved off needs to return, as a share of the main rung's rate.
  static let returnShare = 0.9
  /// How long it must have had that bandwidth.
  static let returnTime = TimeDelta.seconds(5)
  /// How long the content must have exceeded a viewer's bandwidth.
  static let patience = TimeDelta.seconds(1)
  /// How long a viewer that was moved off stays away at least. Doubled each time that it is moved off again soon.
  static let shortestHold = TimeDelta.seconds(5)
  static let longestHold = TimeDelta.seconds(120)
  /// A viewer that is moved off again within this time of its return had returned too early.
  static let trialTime = TimeDelta.seconds(60)
  /// The maximum rate of the side rung while it has a viewer that was moved off, as a share of the main rung's rate.
  static let sideShare = 0.5
  /// A rate is reported when it differs from the last reported one by this share.
  static let tellingShare = 0.05

  /// The rate of a rung whose viewers have the bandwidths `rates`: the smallest of those near the best.
  static func mainRate(_ rates: some Sequence<BitRate>) -> BitRate? {
    guard let best = rates.max() else { return nil }
    let least = best.scaled(by: leastShare)
    return rates.lazy.filter { $0 >= least }.min()
  }

  /// Whether a viewer with the bandwidth `bitrate` (nil: unknown) may join a rung whose best viewer has `best` (nil: it
  /// has no viewers): it is not to slow the others down.
  static func suits(_ bitrate: BitRate?, best: BitRate?) -> Bool {
    guard let bitrate, let best else { return true }
    return bitrate >= best.scaled(by: leastShare)
  }
}

/// A viewer's relation to the main rung: the reason why it is not on it, and when it may return.
struct RungStanding {
  private(set) var reason = RungReason.main
  /// The earliest time of its return.
  private var heldUntil = Timestamp.zero
  private var hold = RungPolicy.shortestHold
  /// The time of its last return.
  private var returned: Timestamp?
  /// The time since which the content has exceeded its bandwidth.
  private var slowSince: Timestamp?
  /// The time since which its bandwidth suffices for the main rung again.
  private var ableSince: Timestamp?

  /// Begins beside the main rung.
  mutating func join() { reason = .joined }

  /// Is moved off the main rung.
  mutating func moveOff(_ why: RungReason, now: Timestamp) {
    let isEarly = returned.map { now - $0 < RungPolicy.trialTime } ?? false
    hold = isEarly ? min(hold * 2, RungPolicy.longestHold) : RungPolicy.shortestHold
    (reason, heldUntil, returned, slowSince, ableSince) = (why, now + hold, nil, nil, nil)
  }

  /// Is on the main rung, by a key frame of it.
  mutating func comeToMain(now: Timestamp) {
    if reason != .main, reason != .joined { returned = now }
    (reason, slowSince, ableSince) = (.main, nil, nil)
  }

  /// Was moved off by its network, not by a request.
  private var lacksRate: Bool { reason == .slow || reason == .backlog }
  /// On the side rung for longer than until the next key frame of the main rung.
  var isMovedOff: Bool { reason != .main && reason != .joined }

  /// Updates the state: the main rung needs `need`, and the best of its viewers has the bandwidth `best`.
  /// - Returns: true if the viewer, with bandwidth `bitrate`, is to be moved off.
  mutating func isTooSlow(_ bitrate: BitRate?, best: BitRate?, need: BitRate, now: Timestamp) -> Bool {
    guard let bitrate, let best, bitrate < best.scaled(by: RungPolicy.leastShare), need > bitrate else {
      slowSince = nil
      return false
    }
    slowSince = slowSince ?? now
    return now - slowSince! > RungPolicy.patience
  }

  /// Updates the viewer's bandwidth and the main rung's rate; nil: unknown.
  mutating func note(_ bitrate: BitRate?, main: BitRate?, now: Timestamp) {
    guard let bitrate, let main else { return }
    if bitrate < main.scaled(by: RungPolicy.returnShare) {
      ableSince = nil
    } else if ableSince == nil {
      ableSince = now
    }
  }

  /// The time at which it may return; nil: not before something changes.
  func handoverTime(_ bitrate: BitRate?, main: BitRate?) -> Timestamp? {
    guard reason != .main else { return nil }
    guard let main else { return heldUntil }
    if lacksRate { return ableSince.map { max(heldUntil, $0 + RungPolicy.returnTime) } }
    guard bitrate.map({ $0 >= main.scaled(by: RungPolicy.leastShare) }) ?? true else { return nil }
    return heldUntil
  }
}
