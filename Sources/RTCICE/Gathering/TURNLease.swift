import RTCPrimitives
import RTCWire

/// An allocation granted by a TURN server (RFC 8656 §7.3).
struct TURNLease {
  /// The maximum lifetime that is believed.
  private static let longestLifetime: UInt32 = 3_600
  /// Between Refresh requests where a NAT in between could forget us, plus up to 5 s. One that is idle is refreshed so often
  /// because it serves peers that come later; and a server that was restarted is noticed.
  private static let natInterval = TimeDelta.seconds(20)
  /// The refresh interval without a NAT, and on streams.
  private static let calmInterval = TimeDelta.seconds(60)

  /// One relayed address, or one of each family, IPv4 first.
  let relayed: [SocketAddress]
  /// Our address as the server sees it.
  let mapped: SocketAddress?
  /// Ours, as the answer came to it.
  let local: SocketAddress
  let grantedAt: Timestamp
  /// How long the server took to answer, for the candidates' order.
  let answerTime: TimeDelta
  private(set) var expiresAt: Timestamp
  var refreshAt: Timestamp
  /// The number of consecutive Refresh requests without an answer.
  var unansweredRefreshes = 0
  /// Something was last relayed to us.
  var heardAt: Timestamp
  /// The server no longer takes our credentials: the lease ends with its time.
  var isLast = false

  /// - Parameter unit: a random number from 0 up to 1.
  init(
    relayed: [SocketAddress], mapped: SocketAddress?, local: SocketAddress, lifetime: UInt32, answerTime: TimeDelta,
    now: Timestamp
  ) {
    self.relayed = relayed.sorted { $0.ip.isV4 && !$1.ip.isV4 }
    self.mapped = mapped
    self.local = local
    self.answerTime = answerTime
    grantedAt = now
    heardAt = now
    expiresAt = now + .seconds(Int64(min(lifetime, Self.longestLifetime)))
    refreshAt = expiresAt
  }

  /// The relayed address of the family of `ip`.
  func relayed(for ip: IPAddress) -> SocketAddress? { relayed.first { $0.ip.isV4 == ip.isV4 } }

  /// The server has granted so many seconds more.
  mutating func extend(by lifetime: UInt32, now: Timestamp) {
    expiresAt = now + .seconds(Int64(min(lifetime, Self.longestLifetime)))
    unansweredRefreshes = 0
  }

  /// Well before the end: a minute, or a sixth of a short life.
  mutating func scheduleRefresh(transport: CandidateGatherer.Server.Transport, unit: Double, now: Timestamp) {
    let life = expiresAt - now
    let latest = max(life / 2, min(life - .seconds(60), life * 5 / 6))
    let isTranslated = transport == .udp && mapped != local.withoutScope
    let keepAlive = isTranslated ? Self.natInterval + .seconds(5 * unit) : Self.calmInterval
    refreshAt = now + min(latest, keepAlive)
  }
}
