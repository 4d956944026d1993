import RTCPrimitives
import RTCWire

/// The channels of an allocation (RFC 8656 §12), each the short name of one peer. A channel's number is 0x4000 and its place
/// here, so that neither way needs more than one look-up.
///
/// A binding lasts 10 min. One that was used lately is made again after 9; the others lapse. A number may serve another peer
/// only 5 min after it has lapsed, a peer may have another number no sooner.
struct TURNChannels {
  private enum Phase {
    /// Asked for, for the first time or again.
    case binding
    case bound
    /// Not asked for again before.
    case refused(until: Timestamp)
    /// It is about to expire.
    case resting
  }

  private struct Slot {
    var peer: SocketAddress
    var phase = Phase.binding
    var usedAt: Timestamp
    /// The binding holds until then; it may be bound while it is being bound again.
    var boundUntil = Timestamp(nanoseconds: .min)
    /// When it was last asked for.
    var askedAt: Timestamp

    func isBound(at now: Timestamp) -> Bool { boundUntil > now }

    var isActive: Bool {
      switch phase {
      case .binding, .bound: true
      case .refused, .resting: false
      }
    }
  }

  /// The maximum number in use; datagrams of other peers are sent as Send indications.
  static let limit = 256
  private static let lifetime = TimeDelta.seconds(600)
  private static let refreshInterval = TimeDelta.seconds(540)
  /// A channel that was unused for this time is released.
  private static let idleTime = TimeDelta.seconds(240)
  /// The minimum time since the last use before a channel is reassigned to another peer.
  private static let yieldTime = TimeDelta.seconds(30)
  private static let refusalTime = TimeDelta.seconds(600)
  /// A number may serve another peer so long after it was last asked for: its lifetime and 5 min.
  private static let restTime = TimeDelta.seconds(900)

  private var slots: [Slot] = []
  private var places: [SocketAddress: Int] = [:]

  /// When `due` has something.
  var nextRefresh: Timestamp {
    slots.reduce(.distantFuture) {
      if case .bound = $1.phase { min($0, $1.askedAt + Self.refreshInterval) } else { $0 }
    }
  }

  /// The number bound to `peer`; nil when none is.
  mutating func number(to peer: SocketAddress, now: Timestamp) -> UInt16? {
    guard let place = places[peer], slots[place].isBound(at: now) else { return nil }
    slots[place].usedAt = now
    return Self.number(of: place)
  }

  /// The peer that `number` is bound to, or was a moment ago.
  func peer(of number: UInt16) -> SocketAddress? {
    let place = Int(number) - Int(TURNChannelHeader.numbers.lowerBound)
    guard slots.indices.contains(place), slots[place].boundUntil.nanoseconds != .min else { return nil }
    return slots[place].peer
  }

  /// The index of a channel to bind for `peer` now; nil if binding is under way or refused, or there is no room.
  mutating func want(_ peer: SocketAddress, now: Timestamp) -> Int? {
    if let place = places[peer] {
      switch slots[place].phase {
      case .binding, .bound: return nil
      case .refused(let time) where time > now: return nil
      case .refused, .resting: break
      }
      slots[place].phase = .binding
      slots[place].usedAt = now
      slots[place].askedAt = now
      return place
    }
    guard makeRoom(now: now) else { return nil }
    let slot = Slot(peer: peer, usedAt: now, askedAt: now)
    if slots.count < TURNChannelHeader.numbers.count {
      slots.append(slot)
      places[peer] = slots.count - 1
      return slots.count - 1
    }
    guard let place = slots.firstIndex(where: { !$0.isActive && now - $0.askedAt > Self.restTime }) else { return nil }
    places[slots[place].peer] = nil
    slots[place] = slot
    places[peer] = place
    return place
  }

  func peer(at place: Int) -> SocketAddress { slots[place].peer }
  static func number(of place: Int) -> UInt16 { TURNChannelHeader.numbers.lowerBound + UInt16(place) }

  mutating func bound(_ place: Int, now: Timestamp) {
    slots[place].phase = .bound
    slots[place].boundUntil = now + Self.lifetime
  }

  mutating func refused(_ place: Int, now: Timestamp) {
    slots[place].phase = .refused(until: now + Self.refusalTime)
    slots[place].boundUntil = Timestamp(nanoseconds: .min)
  }

  /// No answer came; the next datagram asks again.
  mutating func gaveUp(_ place: Int) { slots[place].phase = .resting }

  /// The channels to bind again now, which then count as requested. Releases unused ones.
  mutating func due(now: Timestamp) -> [Int] {
    guard nextRefresh <= now else { return [] }
    var due: [Int] = []
    for place in slots.indices {
      guard case .bound = slots[place].phase, slots[place].askedAt + Self.refreshInterval <= now else { continue }
      if now - slots[place].usedAt < Self.idleTime, slots[place].isBound(at: now) {
        slots[place].phase = .binding
        slots[place].askedAt = now
        due.append(place)
      } else {
        slots[place].phase = .resting
      }
    }
    return due
  }

  /// When each peer was last sent something by a channel.
  var uses: [(ip: IPAddress, time: Timestamp)] { slots.map { ($0.peer.ip, $0.usedAt) } }

  mutating func removeAll() {
    slots.removeAll()
    places.removeAll()
  }

  private mutating func makeRoom(now: Timestamp) -> Bool {
    let active = slots.indices.filter { slots[$0].isActive }
    guard active.count >= Self.limit else { return true }
    guard let oldest = active.min(by: { slots[$0].usedAt < slots[$1].usedAt }),
      now - slots[oldest].usedAt > Self.yieldTime
    else { return false }
    slots[oldest].phase = .resting
    return true
  }
}
