import RTCPrimitives
import RTCWire

/// Monitors one route in use: consent to send (RFC 7675 §5.1), and whether the peer is heard at all.
///
/// A consent check is sent every 4…6 s, each a new transaction. If the answer is late, two probes a second follow, so
/// that an outage and its end are detected quickly, and a route that loses half of all packets in both directions keeps
/// its consent. A working route has no probes. Only an answer renews consent; any authenticated packet counts as being
/// heard.
struct ConsentMonitor {
  enum Step: Hashable {
    case none
    case check
    case expired
  }

  private static let probeInterval = TimeDelta.milliseconds(500)
  /// The interval of probes while there is a reason to doubt the route, and the minimum time of a doubt without an
  /// answer.
  private static let doubtfulProbeInterval = TimeDelta.milliseconds(100)
  private static let doubtTime = TimeDelta.milliseconds(300)
  /// An unanswered check must be this old before silence is believed.
  private static let probingTime = TimeDelta.milliseconds(2_500)
  private static let maximumOutstanding = 8

  private let configuration: ICEConfiguration
  private var consentedAt: Timestamp
  private var heardAt: Timestamp
  private var unansweredSince: Timestamp?
  private var doubtedSince: Timestamp?
  private var nextCheckAt: Timestamp
  private var outstanding: [(id: STUNTransactionID, sentAt: Timestamp)] = []
  /// Smoothed as in RFC 6298 §2.
  private(set) var roundTripTime: TimeDelta?

  /// - Parameter checksAtOnce: when it was some time ago that the pair was found to work.
  init(
    configuration: ICEConfiguration, roundTripTime: TimeDelta?, checksAtOnce: Bool, now: Timestamp,
    random: inout SeededGenerator
  ) {
    self.configuration = configuration
    self.roundTripTime = roundTripTime
    consentedAt = now
    heardAt = now
    nextCheckAt = now
    if !checksAtOnce { scheduleCheck(now: now, random: &random) }
  }

  var deadline: Timestamp {
    var time = min(nextCheckAt, consentedAt + configuration.consentLifetime)
    if let silentAt, silentAt > lastLookedAt { time = min(time, silentAt) }
    if let doubtfulAt, doubtfulAt > lastLookedAt { time = min(time, doubtfulAt) }
    return time
  }
  private var lastLookedAt = Timestamp(nanoseconds: .min)

  func isSilent(at now: Timestamp) -> Bool { silentAt.map { $0 <= now } ?? false }

  mutating func step(now: Timestamp) -> Step {
    lastLookedAt = now
    if now >= consentedAt + configuration.consentLifetime { return .expired }
    return now >= nextCheckAt ? .check : .none
  }

  mutating func sent(_ id: STUNTransactionID, now: Timestamp) {
    if outstanding.count == Self.maximumOutstanding { outstanding.removeFirst() }
    outstanding.append((id, now))
    unansweredSince = unansweredSince ?? now
    // A slow path is given time to answer.
    let isDoubted = doubtedSince.map { now - $0 < Self.doubtTime * 2 } ?? false
    let interval = isDoubted ? Self.doubtfulProbeInterval : Self.probeInterval
    nextCheckAt = now + max(interval, (roundTripTime ?? .zero) * 2)
  }

  func awaits(_ id: STUNTransactionID) -> Bool { outstanding.contains { $0.id == id } }

  /// The authentic answer to a check has come.
  mutating func answered(_ id: STUNTransactionID, now: Timestamp, random: inout SeededGenerator) {
    guard let check = outstanding.first(where: { $0.id == id }) else { return }
    addRoundTrip(now - check.sentAt)
    outstanding.removeAll(keepingCapacity: true)
    unansweredSince = nil
    doubtedSince = nil
    consentedAt = now
    heardAt = max(heardAt, now)
    scheduleCheck(now: now, random: &random)
  }

  /// Something authenticated came from the peer.
  mutating func heard(at time: Timestamp) { heardAt = max(heardAt, time) }

  /// Whether nothing has been heard since `time`.
  func hasHeardNothing(since time: Timestamp) -> Bool { heardAt < time }

  /// The peer has shown another way, perhaps because this one is gone: it is asked at once.
  mutating func doubt(now: Timestamp) {
    guard doubtedSince == nil else { return }
    doubtedSince = now
    nextCheckAt = now
  }

  /// Since when the doubt is unanswered for long enough to act on it; nil while there is none.
  func doubted(at now: Timestamp) -> Timestamp? {
    guard let doubtfulAt, doubtfulAt <= now, let doubtedSince, heardAt <= doubtedSince else { return nil }
    return doubtedSince
  }

  private var doubtfulAt: Timestamp? {
    doubtedSince.map { $0 + max(Self.doubtTime, (roundTripTime ?? .zero) * 3) }
  }

  /// The system refuses to send this way: what could only be guessed from silence is known.
  mutating func refused(now: Timestamp) {
    guard !isSilent(at: now) else { return }
    heardAt = min(heardAt, now - configuration.disconnectedAfter)
    unansweredSince = min(unansweredSince ?? now, now - Self.probingTime)
    nextCheckAt = min(nextCheckAt, now + Self.probeInterval)
  }

  private var silentAt: Timestamp? {
    guard let unansweredSince else { return nil }
    return max(heardAt + configuration.disconnectedAfter, unansweredSince + Self.probingTime)
  }

  private mutating func scheduleCheck(now: Timestamp, random: inout SeededGenerator) {
    nextCheckAt = now + .seconds(configuration.consentInterval.seconds * (0.8 + 0.4 * random.nextUnit()))
  }

  private mutating func addRoundTrip(_ sample: TimeDelta) {
    roundTripTime = roundTripTime.map { $0 + (sample - $0) / 8 } ?? sample
  }
}
