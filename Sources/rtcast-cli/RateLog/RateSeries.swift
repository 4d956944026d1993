package import RTCEngine
package import RTCPrimitives

/// The values of one connection over time, as drawn. Times are seconds since the connection began.
package struct RateSeries: Sendable {
  package let id: String
  package let algorithm: RateControlAlgorithm
  /// In the log's time.
  package let began: Timestamp
  package private(set) var estimates: [(time: Double, value: NetworkEstimate)] = []
  package private(set) var probes: [(time: Double, rate: Double)] = []
  package private(set) var roundTrips: [(time: Double, milliseconds: Double)] = []
  /// All bytes sent until then.
  package private(set) var sentBytes: [(time: Double, bytes: Double)] = []
  /// When packets left, and how long they were on their way by two clocks that do not agree, in ms.
  package private(set) var transits: [(time: Double, milliseconds: Double)] = []
  /// By the second in which packets were sent: packets with a known fate, lost packets, and bytes that arrived.
  package private(set) var seconds: [Int: (packets: Int, lost: Int, arrived: Int)] = [:]
  /// The time of the last entry.
  package private(set) var end = 0.0

  /// Packets that left further from the beginning than this, in seconds, are not counted by second.
  private static let farthestSecond = 200_000.0

  package init(id: String, algorithm: RateControlAlgorithm, began: Timestamp) {
    self.id = id
    self.algorithm = algorithm
    self.began = began
  }

  package mutating func take(_ entry: RateLogEntry, at time: Timestamp) {
    let now = (time - began).seconds
    end = max(end, now)
    switch entry {
    case .feedback(let results, let activity):
      note(activity, now)
      for result in results { note(result) }
    case .deadline(let activity): note(activity, now)
    case .roundTrip(let value): roundTrips.append((now, value.seconds * 1_000))
    case .estimate(let value): estimates.append((now, value))
    case .probe(let probe): probes.append((now, Double(probe.rate.bitsPerSecond)))
    case .started, .loss, .remoteMaximum, .limits, .routeChanged: break
    }
  }

  private mutating func note(_ activity: SendActivity, _ now: Double) {
    sentBytes.append((now, Double(activity.sentBytes)))
  }

  private mutating func note(_ result: PacketResult) {
    let sent = (result.packet.sendTime - began).seconds
    guard abs(sent) < Self.farthestSecond else { return }
    let second = Int(sent.rounded(.down))
    if let arrival = result.arrival {
      let transit = arrival.seconds - result.packet.sendTime.secondsSinceOrigin
      transits.append((sent, transit * 1_000))
      seconds[second, default: (0, 0, 0)].arrived += result.packet.size
      if result.wasReportedLost {
        seconds[second, default: (0, 0, 0)].lost -= 1
        return
      }
    } else {
      seconds[second, default: (0, 0, 0)].lost += 1
    }
    seconds[second, default: (0, 0, 0)].packets += 1
  }

  /// Sent rates, in bit/s: means over at least `interval` seconds, each at the end of its interval.
  package func sentRates(over interval: Double = 0.25) -> [(time: Double, rate: Double)] {
    guard var last = sentBytes.first else { return [] }
    var rates: [(time: Double, rate: Double)] = []
    for point in sentBytes.dropFirst() where point.time - last.time >= interval {
      rates.append((point.time, max(0, point.bytes - last.bytes) * 8 / (point.time - last.time)))
      last = point
    }
    return rates
  }

  /// How much later than the fastest packets came, in ms, by the time they left.
  package func delays() -> [(time: Double, milliseconds: Double)] {
    guard let least = transits.lazy.map(\.milliseconds).min() else { return [] }
    return transits.map { ($0.time, $0.milliseconds - least) }
  }

  /// Loss by second, 0…1.
  package func losses() -> [(time: Double, loss: Double)] {
    seconds.sorted { $0.key < $1.key }.filter { $0.value.packets > 0 }
      .map { (Double($0.key), min(1, max(0, Double($0.value.lost) / Double($0.value.packets)))) }
  }
}

extension Timestamp {
  fileprivate var secondsSinceOrigin: Double { (self - .zero).seconds }
}
