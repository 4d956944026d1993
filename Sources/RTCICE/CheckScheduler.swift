import RTCPrimitives

/// Schedules checks: kinds of pairs take turns. Within a kind, pairs with the fewest tries come first, then those whose
/// candidates have the fewest, so that each address of both sides is soon tried once.
struct CheckScheduler {
  /// Earlier turns are smaller.
  struct Turn: Comparable {
    let sortsLast: Int
    let requests: Int
    let tries: Int
    let priority: UInt64

    static func < (a: Turn, b: Turn) -> Bool {
      if a.sortsLast != b.sortsLast { return a.sortsLast < b.sortsLast }
      if a.requests != b.requests { return a.requests < b.requests }
      return a.tries != b.tries ? a.tries < b.tries : a.priority > b.priority
    }
  }

  private struct Sort: Hashable {
    let kind: CandidatePairKind
    let isV4: Bool
  }

  /// Requests after which a pair that gave its place up is not tried again.
  static let mostTries = 3

  /// Addresses whose tries are counted.
  private static let mostAddresses = 512

  private var count = 0
  private var last: [Sort: Int] = [:]
  private var localTries: [SocketAddress: Int] = [:]
  private var remoteTries: [SocketAddress: Int] = [:]

  func turn(of pair: CandidatePair) -> Turn {
    Turn(
      sortsLast: last[Self.sort(of: pair)] ?? 0, requests: pair.requestsSent,
      tries: (localTries[pair.local.address] ?? 0) + (remoteTries[pair.remote.address] ?? 0), priority: pair.priority)
  }

  mutating func take(_ pair: CandidatePair) {
    count += 1
    last[Self.sort(of: pair)] = count
    // A peer that shows ever new addresses starts again with them.
    if remoteTries.count >= Self.mostAddresses { remoteTries.removeAll(keepingCapacity: true) }
    localTries[pair.local.address, default: 0] += 1
    remoteTries[pair.remote.address, default: 0] += 1
  }

  private static func sort(of pair: CandidatePair) -> Sort {
    Sort(kind: pair.kind, isV4: pair.route.remote.ip.isV4)
  }
}
