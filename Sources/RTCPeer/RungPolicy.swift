import RTCEngine
package import RTCMedia
import RTCPrimitives

/// The two rungs of a track.
package struct Rungs: Hashable, Sendable {
  /// For those whose network bears it. Its key frames are rare: they cost all of them.
  package var main: Rendition
  /// For who joins, who lost too much and who is slow.
  package var side: Rendition

  package init(main: Rendition, side: Rendition) {
    self.main = main
    self.side = side
  }
}

/// The numbers of the rules by which viewers change rungs.
package enum RungPolicy {
  /// Of the best rate on the main rung. A viewer below it neither counts for the main rung's rate nor is handed over to
  /// it, and is moved off when the content needs more than its network bears.
  static let leastShare = 0.6
  /// Of the main rung's rate: what the network of a viewer that was moved off must bear before it returns.
  static let returnShare = 0.9
  /// So long it must have borne that.
  static let returnTime = TimeDelta.seconds(5)
  /// So long the content must have needed more than a viewer's network bears.
  static let patience = TimeDelta.seconds(1)
  /// How long a viewer that was moved off stays away at least. Doubled each time that it is moved off again soon.
  static let shortestHold = TimeDelta.seconds(5)
  static let longestHold = TimeDelta.seconds(120)
  /// Who is moved off again this soon after its return came back too early.
  static let trialTime = TimeDelta.seconds(60)
  /// Of the main rung's rate: what the side rung takes at most while somebody is on it who was moved off.
  static let sideShare = 0.5
  /// A rate is told when it differs from the last that was told by this much.
  static let tellingShare = 0.05

  /// The rate of a rung whose members bear `rates`: of those near the best, the smallest.
  static func mainRate(_ rates: some Sequence<BitRate>) -> BitRate? {
    guard let best = rates.max() else { return nil }
    let least = best.scaled(by: leastShare)
    return rates.lazy.filter { $0 >= least }.min()
  }
}

/// Where a viewer stands with the main rung: why it is not on it, and when it may return.
struct RungStanding {
  private(set) var reason = RungReason.main
  /// Not before this is it handed over.
  private var heldUntil = Timestamp.zero
  private var hold = RungPolicy.shortestHold
  /// When it was handed over last.
  private var returned: Timestamp?
  /// Since when the content needs more than its network bears.
  private var slowSince: Timestamp?
  /// Since when its network bears the main rung again.
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

  /// Takes in that the main rung needs `need` and is made with `rate`, while the best of its viewers bears `best`.
  /// - Returns: true when the viewer, whose network bears `bitrate`, is to be moved off.
  mutating func isTooSlow(_ bitrate: BitRate?, best: BitRate?, need: BitRate, now: Timestamp) -> Bool {
    guard let bitrate, let best, bitrate < best.scaled(by: RungPolicy.leastShare), need > bitrate else {
      slowSince = nil
      return false
    }
    slowSince = slowSince ?? now
    return now - slowSince! > RungPolicy.patience
  }

  /// Takes in what its network bears and what the main rung is made with; nil: nothing is known of it.
  mutating func note(_ bitrate: BitRate?, main: BitRate?, now: Timestamp) {
    guard let bitrate, let main else { return }
    if bitrate < main.scaled(by: RungPolicy.returnShare) {
      ableSince = nil
    } else if ableSince == nil {
      ableSince = now
    }
  }

  /// When it may be handed over; nil: not before something changes.
  func handoverTime(_ bitrate: BitRate?, main: BitRate?) -> Timestamp? {
    guard reason != .main else { return nil }
    guard let main else { return heldUntil }
    if lacksRate { return ableSince.map { max(heldUntil, $0 + RungPolicy.returnTime) } }
    guard bitrate.map({ $0 >= main.scaled(by: RungPolicy.leastShare) }) ?? true else { return nil }
    return heldUntil
  }
}
