import RTCPrimitives

/// The addresses with which an allocation may exchange datagrams (RFC 8656 §9), as far as known.
///
/// A permission lasts 5 min. A recently used one is renewed after 4; the others expire. Ports are ignored.
struct TURNPermissions {
  enum Standing {
    case granted
    case underWay
    /// Unknown: it is to be requested now, and counts as requested.
    case wanted
    case refused
  }

  private struct Permission {
    var usedAt: Timestamp
    var isUnderWay = true
    var grantedUntil = Timestamp(nanoseconds: .min)
    var refusedUntil = Timestamp(nanoseconds: .min)
    /// The time of the renewal.
    var refreshAt = Timestamp.distantFuture
  }

  /// The maximum number; the least recently used is removed first.
  static let limit = 256
  private static let lifetime = TimeDelta.seconds(300)
  private static let refreshInterval = TimeDelta.seconds(240)
  /// Permissions due within this time are renewed by one request.
  private static let gatheringTime = TimeDelta.seconds(20)
  /// A refused one is not asked for again before.
  private static let refusalTime = TimeDelta.seconds(60)
  private static let retryInterval = TimeDelta.seconds(1)

  private var entries: [IPAddress: Permission] = [:]

  var count: Int { entries.count }

  /// When `due` has something; `distantFuture` when nothing lapses.
  var nextRefresh: Timestamp { entries.values.reduce(.distantFuture) { $1.isUnderWay ? $0 : min($0, $1.refreshAt) } }

  /// A datagram is to be sent to `ip`.
  mutating func use(_ ip: IPAddress, now: Timestamp) -> Standing {
    guard var entry = entries[ip] else {
      if entries.count >= Self.limit { removeLeastRecentlyUsed() }
      entries[ip] = Permission(usedAt: now)
      return .wanted
    }
    entry.usedAt = now
    defer { entries[ip] = entry }
    if entry.grantedUntil > now { return .granted }
    if entry.isUnderWay { return .underWay }
    if entry.refusedUntil > now { return .refused }
    entry.isUnderWay = true
    return .wanted
  }

  /// Something was sent to `ip` by a channel.
  mutating func noteUse(_ ip: IPAddress, at time: Timestamp) {
    if let entry = entries[ip], entry.usedAt < time { entries[ip]?.usedAt = time }
  }

  mutating func grant(_ ips: [IPAddress], now: Timestamp) {
    for ip in ips where entries[ip] != nil {
      entries[ip]?.isUnderWay = false
      entries[ip]?.grantedUntil = now + Self.lifetime
      entries[ip]?.refreshAt = now + Self.refreshInterval
    }
  }

  mutating func refuse(_ ips: [IPAddress], now: Timestamp) {
    for ip in ips where entries[ip] != nil {
      entries[ip]?.isUnderWay = false
      entries[ip]?.grantedUntil = Timestamp(nanoseconds: .min)
      entries[ip]?.refusedUntil = now + Self.refusalTime
      entries[ip]?.refreshAt = now + Self.refusalTime
    }
  }

  /// There was no answer: granted permissions are renewed soon, the others when used.
  mutating func giveUp(_ ips: [IPAddress], now: Timestamp) {
    for ip in ips {
      guard let entry = entries[ip] else { continue }
      if entry.grantedUntil > now {
        entries[ip]?.isUnderWay = false
        entries[ip]?.refreshAt = now + Self.retryInterval
      } else {
        entries[ip] = nil
      }
    }
  }

  /// The permissions to renew now, which then count as requested. Removes unused ones.
  mutating func due(now: Timestamp) -> [IPAddress] {
    guard nextRefresh <= now else { return [] }
    var ips: [IPAddress] = []
    for (ip, entry) in entries where !entry.isUnderWay && entry.refreshAt <= now + Self.gatheringTime {
      if now - entry.usedAt <= Self.refreshInterval, entry.grantedUntil > now {
        ips.append(ip)
      } else if entry.refreshAt <= now {
        entries[ip] = nil
      }
    }
    for ip in ips { entries[ip]?.isUnderWay = true }
    return ips.sorted { "\($0)" < "\($1)" }
  }

  mutating func removeAll() { entries.removeAll() }

  private mutating func removeLeastRecentlyUsed() {
    if let oldest = entries.min(by: { $0.value.usedAt < $1.value.usedAt }) { entries[oldest.key] = nil }
  }
}
