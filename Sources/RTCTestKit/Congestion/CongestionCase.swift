import RTCEngine
package import RTCPrimitives

/// The cases of RFC 8867 §5, and links as users have them.
package struct CongestionCase: Sendable {
  package let name: String
  package let options: CongestionBed.Options
  /// The evaluated time; flows start before it.
  package let judged: Range<TimeDelta>
  /// When all flows have the same to send and are there: fairness is judged then. Nil for single flows.
  package let shared: Range<TimeDelta>?

  init(
    _ name: String, seconds: Int64, from start: Int64 = 5, sharedFrom: Int64? = nil,
    _ make: (inout CongestionBed.Options) -> Void
  ) {
    var options = CongestionBed.Options()
    options.duration = .seconds(seconds)
    make(&options)
    self.name = name
    self.options = options
    judged = .seconds(start)..<options.duration
    shared = sharedFrom.map { .seconds($0)..<options.duration }
  }

  private static func flow(oneWay milliseconds: Int64 = 50) -> CongestionFlow.Options {
    var flow = CongestionFlow.Options()
    flow.delay = .milliseconds(milliseconds)
    return flow
  }

  private typealias Step = CongestionBed.Step
  private static func rate(_ kilobits: Int64, at second: Int64 = 0) -> Step {
    Step(.seconds(second), .kilobitsPerSecond(kilobits))
  }

  /// RFC 8867 §5.1 to §5.8.
  package static let rfc8867 = [
    CongestionCase("5.1 variable capacity, one flow", seconds: 100) {
      $0.flows = [flow()]
      $0.capacity = [rate(1_000), rate(2_500, at: 40), rate(600, at: 60), rate(1_000, at: 80)]
    },
    CongestionCase("5.2 variable capacity, two flows", seconds: 125, sharedFrom: 5) {
      $0.flows = [flow(), flow()]
      $0.capacity = [rate(4_000), rate(2_000, at: 25), rate(3_500, at: 50), rate(1_000, at: 75), rate(2_000, at: 100)]
    },
    CongestionCase("5.3 congested feedback", seconds: 100) {
      $0.flows = [flow()]
      $0.capacity = [rate(2_000)]
      $0.feedbackCapacity = [rate(100), rate(50, at: 20), rate(25, at: 40), rate(100, at: 60)]
    },
    CongestionCase("5.4 competing flows", seconds: 120, from: 45, sharedFrom: 60) {
      $0.flows = [flow(), flow(), flow()]
      for index in 0..<3 { $0.flows[index].start = .seconds(Int64(index) * 20) }
      $0.capacity = [rate(3_500)]
    },
    CongestionCase("5.5 round-trip fairness", seconds: 300, from: 45, sharedFrom: 60) {
      $0.flows = [10, 25, 50, 100, 150].map { flow(oneWay: $0) }
      for index in 0..<5 { $0.flows[index].start = .seconds(Int64(index) * 10) }
      $0.capacity = [rate(4_000)]
    },
    CongestionCase("5.6 with a long TCP flow", seconds: 120, from: 25) {
      $0.flows = [flow()]
      $0.capacity = [rate(2_000)]
      var tcp = TCPFlow.Options()
      tcp.start = .seconds(20)
      $0.tcp = [tcp]
    },
    CongestionCase("5.7 with short TCP flows", seconds: 120) {
      $0.flows = [flow()]
      $0.capacity = [rate(2_000)]
      $0.tcp = (0..<5).map {
        var tcp = TCPFlow.Options()
        tcp.start = .seconds(Int64(5 + 3 * $0))
        tcp.transfer = 100_000 + 50_000 * $0
        tcp.idle = .seconds(Int64(8 + 2 * $0))
        return tcp
      }
    },
    CongestionCase("5.8 pause and resume", seconds: 120, sharedFrom: 65) {
      $0.flows = [flow(), flow(), flow()]
      $0.flows[0].pauses = [.seconds(40)..<(.seconds(60))]
      $0.capacity = [rate(3_500)]
    },
  ]

  /// Single links with one trouble each.
  package static let links = [
    CongestionCase("5 -> 0.6 -> 3 Mbit/s", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.capacity = [rate(5_000), rate(600, at: 20), rate(3_000, at: 40)]
    },
    CongestionCase("2 % random loss", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.loss = 0.02
    },
    CongestionCase("10 % random loss", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.loss = 0.10
    },
    CongestionCase("outages of 200 ms", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.outages = (1...5).map { .seconds(Int64($0) * 10)..<(.milliseconds(Int64($0) * 10_000 + 200)) }
    },
    CongestionCase("300 ms round trip", seconds: 60) { $0.flows = [flow(oneWay: 150)] },
    CongestionCase("5 % reordering", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.reordering = 0.05
    },
    CongestionCase("2 s deep queue", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.capacity = [rate(1_200)]
      $0.queueTime = .seconds(2)
    },
    CongestionCase("60 s of rest on 1 Mbit/s", seconds: 110, from: 80) {
      $0.flows = [flow(oneWay: 25)]
      $0.flows[0].pauses = [.seconds(20)..<(.seconds(80))]
      $0.flows[0].firstFrameFactor = 6
      $0.capacity = [rate(1_000)]
    },
    CongestionCase("60 s of rest, then 1 Mbit/s", seconds: 110, from: 80) {
      $0.flows = [flow(oneWay: 25)]
      $0.flows[0].pauses = [.seconds(20)..<(.seconds(80))]
      $0.flows[0].firstFrameFactor = 6
      $0.capacity = [rate(5_000), rate(1_000, at: 50)]
    },
    CongestionCase("30 ms jitter", seconds: 60) {
      $0.flows = [flow(oneWay: 25)]
      $0.jitter = .milliseconds(30)
    },
  ]

  /// Screens on slow links: pictures of very different size, and key frames of 100 kB that are paced out.
  package static let bursts = [
    bursty("bursty pictures, 5 -> 0.6 Mbit/s", kilobits: 600),
    bursty("bursty pictures, 5 -> 0.3 Mbit/s", kilobits: 300),
    bursty("bursty pictures, 5 -> 1.5 Mbit/s", kilobits: 1_500),
    bursty("few pictures, 5 -> 0.6 Mbit/s", kilobits: 600) {
      $0.framesPerSecond = 6
      $0.bursts?.largeFactor = 3
    },
  ]

  private static func bursty(
    _ name: String, kilobits: Int64, _ make: (inout CongestionFlow.Options) -> Void = { _ in }
  ) -> CongestionCase {
    CongestionCase(name, seconds: 75, from: 15) {
      $0.flows = [flow(oneWay: 25)]
      $0.flows[0].bursts = CongestionFlow.Bursts()
      make(&$0.flows[0])
      $0.capacity = [rate(5_000), rate(kilobits, at: 10)]
    }
  }

  /// Large pictures of a source whose limit is far below the path's capacity, such as slides.
  package static let pictures = [
    pictures("pictures of 2.5 Mbit/s on 20 Mbit/s") { $0.capacity = [rate(20_000)] },
    pictures("pictures of 2.5 Mbit/s on 6 Mbit/s") { $0.capacity = [rate(6_000)] },
    pictures("pictures of 2.5 Mbit/s, 20 -> 3 Mbit/s") { $0.capacity = [rate(20_000), rate(3_000, at: 40)] },
    pictures("pictures of 2.5 Mbit/s, 20 Mbit/s, 20 ms of queue") {
      $0.capacity = [rate(20_000)]
      $0.queueTime = .milliseconds(20)
    },
    pictures("pictures of 2.5 Mbit/s, 20 Mbit/s, 2 % of loss") {
      $0.capacity = [rate(20_000)]
      $0.loss = 0.02
    },
    pictures("pictures of 2.5 Mbit/s, 20 Mbit/s, 30 ms of jitter") {
      $0.capacity = [rate(20_000)]
      $0.jitter = .milliseconds(30)
    },
    pictures("slides and rests on 20 Mbit/s", rests: true) { $0.capacity = [rate(20_000)] },
    pictures("slides and rests on 6 Mbit/s", rests: true) { $0.capacity = [rate(6_000)] },
  ]

  private static func pictures(
    _ name: String, rests: Bool = false, _ make: (inout CongestionBed.Options) -> Void
  ) -> CongestionCase {
    CongestionCase(name, seconds: 90) {
      $0.flows = [flow(oneWay: 25)]
      $0.flows[0].limits = BitrateLimits(maximum: .kilobitsPerSecond(2_500))
      $0.flows[0].framesPerSecond = 5
      $0.flows[0].firstFrameFactor = 1
      // Half a second of pictures after each 5.5 s.
      if rests {
        $0.flows[0].pauses = (2..<15).map { .milliseconds($0 * 6_000)..<(.milliseconds($0 * 6_000 + 5_500)) }
      }
      make(&$0)
    }
  }

  /// Runs the case with another seed.
  package func run(seed: UInt64) -> CongestionResult {
    var options = options
    options.seed = seed
    var bed = CongestionBed(options)
    bed.run()
    return CongestionResult(bed, self)
  }
}

/// The metrics of RFC 8868 for one run.
package struct CongestionResult: Sendable {
  /// The delivered share of the bottleneck's capacity, 0…1.
  package let use: Double
  /// The wait in the bottleneck's queue that 95 % of the packets do not exceed, of the flow with the longest.
  package let queueing: TimeDelta
  /// The lowest target, as a mean of one second and a share of the capacity then; evaluated from five seconds after
  /// each change of capacity. With several flows, that of the lowest.
  package let lowestTarget: Double
  /// Packets that found the queue full, of the flow with the most, 0…1.
  package let drops: Double
  /// The time from its making until it has arrived that 95 % of the pictures do not exceed, without the path's delay, of the
  /// flow with the longest.
  package let pictureTime: TimeDelta
  /// Jain's index of what flows got that have the same to send; nil for single flows.
  package let fairness: Double?
  /// After each rise of a single flow's capacity: how long it took to use 80 % of it; nil: never.
  package let rises: [TimeDelta?]
  /// After each drop: how long it took until no packet waited 100 ms; nil: never.
  package let falls: [TimeDelta?]

  init(_ bed: CongestionBed, _ test: CongestionCase) {
    let delivered = bed.meters.reduce(0) { $0 + $1.deliveredBits(test.judged) }
    use = delivered / max(1, bed.capacity(test.judged))
    queueing = bed.meters.map { $0.wait(quantile: 0.95, test.judged) }.max() ?? .zero
    pictureTime = bed.meters.map { $0.pictureTime(quantile: 0.95, test.judged) }.max() ?? .zero
    lowestTarget = bed.meters.map { $0.lowestTarget(bed.options.capacity, test.judged) }.min() ?? 0
    drops = bed.meters.map { $0.dropShare(test.judged) }.max() ?? 0
    fairness = test.shared.map { range in
      jainFairness(bed.meters.map { $0.throughput(range) })
    }
    var (rises, falls) = ([TimeDelta?](), [TimeDelta?]())
    if bed.meters.count == 1 {
      for (before, after) in zip(bed.options.capacity, bed.options.capacity.dropFirst())
      where test.judged.contains(after.time) {
        if after.rate > before.rate {
          rises.append(bed.meters[0].reached(0.8 * Double(after.rate.bitsPerSecond), after: after.time))
        } else {
          falls.append(bed.meters[0].drained(below: .milliseconds(100), after: after.time))
        }
      }
    }
    (self.rises, self.falls) = (rises, falls)
  }
}
