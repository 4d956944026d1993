import RTCSignaling

/// A search for the primary: the sentinels are asked one after another, the one first that has named a usable primary. Sans-IO.
package struct SentinelSearch: Sendable {
  package enum Step: Sendable, Equatable {
    /// Ask this sentinel.
    case ask(RedisAddress.Place)
    /// The primary.
    case found(RedisAddress.Place)
    /// All sentinels were asked.
    case failed(RedisFailure)
  }

  private let sentinels: RedisAddress.Sentinels
  /// The sentinels in the order in which they are asked.
  private var order: [RedisAddress.Place]
  private var asked = 0
  /// Whether a primary was named to which no connection was usable yet.
  private var isUnproven = false
  /// The first failure of this search.
  private var failure: RedisFailure?

  package init(_ sentinels: RedisAddress.Sentinels) { (self.sentinels, order) = (sentinels, sentinels.places) }

  /// The command that asks a sentinel.
  package var question: [String] { ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", sentinels.name] }

  /// Begins a search.
  package mutating func begin() -> Step {
    // The first sentinel has named a primary that cannot be used. Another one may know the new primary.
    if isUnproven { order.append(order.removeFirst()) }
    (asked, failure, isUnproven) = (0, nil, false)
    return .ask(order[0])
  }

  /// Takes the reply of the sentinel that was asked last.
  package mutating func take(_ reply: RESPValue) -> Step {
    switch reply {
    case .error(let text) where text.contains("unknown command"): return take(RedisFailure.notSentinel)
    case .error(let text): return take(RedisFailure(reply: text))
    case .null: return take(RedisFailure.unknownPrimary(sentinels.name))
    default: break
    }
    guard let parts = reply.elements, parts.count == 2, let host = parts[0].string, let port = parts[1].integer,
      let port = UInt16(exactly: port), port > 0,
      let place = RedisAddress.Place(host: host, port: port)
    else { return take(RedisFailure.notRedis) }
    // The next search begins here.
    order = [order[asked]] + order.filter { $0 != order[asked] }
    isUnproven = true
    return .found(place)
  }

  /// The primary that was named last can be used.
  package mutating func prove() { isUnproven = false }

  /// The sentinel that was asked last gives no answer.
  package mutating func take(_ reason: RedisFailure) -> Step {
    failure = failure ?? .sentinel(order[asked], reason)
    asked += 1
    return asked < order.count ? .ask(order[asked]) : .failed(failure ?? reason)
  }
}
