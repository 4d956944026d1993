import RTCPrimitives

/// How long each packet of a made-up network takes, by when it was sent; nil when it is lost. Replayed by its seed.
struct DelayTrace: Sendable {
  /// Milliseconds for a packet sent at a second of the trace.
  var delay: @Sendable (_ second: Double, inout SeededGenerator) -> Double
  /// 0…1.
  var loss = 0.0

  static let constant = DelayTrace { _, _ in 30 }
  static let gaussian = DelayTrace { _, random in max(5, 40 + 8 * normal(&random)) }
  /// One packet in fifty is late by 60 to 120 ms.
  static let spikes = DelayTrace { _, random in
    30 + (random.nextUnit() < 0.02 ? 60 + 60 * random.nextUnit() : 3 * random.nextUnit())
  }
  /// Every three seconds nothing comes for 150 ms, and then all of it at once.
  static let bursts = DelayTrace { second, _ in
    let phase = second.truncatingRemainder(dividingBy: 3)
    return 25 + (phase < 0.15 ? (0.15 - phase) * 1_000 : 0)
  }
  /// A radio that is on the air for 60 ms and off for 60.
  static let wifi = DelayTrace { second, random in
    let phase = second.truncatingRemainder(dividingBy: 0.12)
    return 10 + 4 * random.nextUnit() + (phase < 0.06 ? (0.06 - phase) * 1_000 : 0)
  }
  /// From the tenth second on all packets take 120 ms longer; from the twentieth on as before.
  static let routeChange = DelayTrace { second, random in
    (10..<20).contains(second) ? 150 + 3 * random.nextUnit() : 30 + 3 * random.nextUnit()
  }

  /// `recordedDelays`, from the start again after its minute.
  static let recorded = DelayTrace { second, _ in
    Double(recordedDelays[Int(second * 50 + 0.5) % recordedDelays.count]) / 10
  }

  /// A walk between calm and busy minutes, as on a shared line.
  static func sharedLine(seed: UInt64) -> DelayTrace {
    var random = SeededGenerator(seed: seed)
    let loads = (0..<64).map { _ in random.nextUnit() * random.nextUnit() }
    return DelayTrace { second, random in
      let load = loads[Int(second / 2) % loads.count]
      return 20 + 60 * load * random.nextUnit() + (random.nextUnit() < 0.01 * load ? 100 : 0)
    }
  }

  func losing(_ share: Double) -> DelayTrace {
    var trace = self
    trace.loss = share
    return trace
  }

  private static func normal(_ random: inout SeededGenerator) -> Double {
    (0..<12).reduce(-6.0) { sum, _ in sum + random.nextUnit() }
  }
}
