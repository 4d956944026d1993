// RFC 8867's cases, other links and bursty pictures through the whole rate control on virtual time, many seeds each. Prints
// RFC 8868's metrics as a table: the median, what 95 % of the seeds reach, and the worst seed, which `--case` and `--seed`
// run again, slot by slot.
import Foundation
import RTCPrimitives
import RTCTestKit

/// What is said on the command line.
struct Arguments {
  var seeds: UInt64 = 50
  /// Only cases whose names contain this.
  var only = ""
  /// Only this one, with all its slots.
  var seed: UInt64?
  var jobs = ProcessInfo.processInfo.activeProcessorCount

  init(_ arguments: [String]) {
    var rest = arguments.dropFirst()
    while let option = rest.popFirst() {
      let value = rest.popFirst() ?? ""
      switch option {
      case "--seeds": seeds = max(1, UInt64(value) ?? seeds)
      case "--case": only = value
      case "--seed": seed = UInt64(value)
      case "--jobs": jobs = max(1, Int(value) ?? jobs)
      default:
        print("Congestion [--seeds N] [--case TEXT] [--seed N] [--jobs N]")
        exit(2)
      }
    }
  }
}

func run(_ test: CongestionCase, _ arguments: Arguments) async -> [CongestionResult] {
  let (seeds, jobs) = (arguments.seeds, UInt64(arguments.jobs))
  return await withTaskGroup(of: [(UInt64, CongestionResult)].self) { group in
    for job in 0..<jobs {
      group.addTask { stride(from: job + 1, through: seeds, by: Int(jobs)).map { ($0, test.run(seed: $0)) } }
    }
    var results: [(UInt64, CongestionResult)] = []
    for await some in group { results += some }
    return results.sorted { $0.0 < $1.0 }.map(\.1)
  }
}

/// Median, what 95 % reach, the worst and its seed.
func cell(_ values: [Double], digits: Int, higherIsBetter: Bool) -> String {
  guard !values.isEmpty else { return "" }
  let sorted = values.enumerated().sorted { higherIsBetter ? $0.element > $1.element : $0.element < $1.element }
  func text(_ value: Double) -> String {
    value.isInfinite ? "never" : String(format: "%.\(digits)f", value)
  }
  let most = sorted[min(sorted.count - 1, sorted.count * 95 / 100)].element
  guard let worst = sorted.last, let first = sorted.first else { return "" }
  if text(first.element) == text(worst.element) { return text(worst.element) }
  return "\(text(sorted[sorted.count / 2].element)) / \(text(most)) / \(text(worst.element)) (#\(worst.offset + 1))"
}

func row(_ test: CongestionCase, _ results: [CongestionResult]) -> String {
  /// The slowest change of each run.
  func slowest(_ times: KeyPath<CongestionResult, [TimeDelta?]>) -> [Double] {
    results.compactMap { $0[keyPath: times].map { $0?.seconds ?? .infinity }.max() }
  }
  return [
    test.name,
    cell(results.map { $0.use * 100 }, digits: 0, higherIsBetter: true),
    cell(results.map { $0.queueing.seconds * 1_000 }, digits: 0, higherIsBetter: false),
    cell(results.map { $0.pictureTime.seconds * 1_000 }, digits: 0, higherIsBetter: false),
    cell(results.map { $0.drops * 100 }, digits: 2, higherIsBetter: false),
    cell(results.compactMap(\.fairness), digits: 2, higherIsBetter: true),
    cell(slowest(\.rises), digits: 1, higherIsBetter: false),
    cell(slowest(\.falls), digits: 1, higherIsBetter: false),
    test.shared == nil ? cell(results.map { $0.lowestTarget * 100 }, digits: 0, higherIsBetter: true) : "",
  ].reduce("|") { "\($0) \($1) |" }
}

func trace(_ test: CongestionCase, seed: UInt64) {
  var options = test.options
  options.seed = seed
  var bed = CongestionBed(options)
  bed.run()
  print("time s, then of each flow: target, pacing, sent, delivered, acknowledged kbit/s; longest wait ms; reason")
  for index in bed.meters[0].slots.indices {
    let flows = bed.meters.filter { index < $0.slots.count }.map { meter in
      let slot = meter.slots[index]
      let rates = [slot.target / 1_000, slot.pacing / 1_000, Double(slot.sent) * 0.08, Double(slot.delivered) * 0.08]
      let acknowledged = slot.acknowledged.map { Double($0.bitsPerSecond) / 1_000 } ?? 0
      return (rates + [acknowledged, slot.longestWait.seconds * 1_000]).map { String(format: "%6.0f", $0) }.joined()
        + " \(slot.reason)"
    }
    print(String(format: "%6.1f", Double(index) / 10), flows.joined(separator: " |"))
  }
}

let arguments = Arguments(CommandLine.arguments)
let cases = (CongestionCase.rfc8867 + CongestionCase.links + CongestionCase.bursts + CongestionCase.pictures).filter {
  arguments.only.isEmpty || $0.name.contains(arguments.only)
}
if let seed = arguments.seed {
  for test in cases { trace(test, seed: seed) }
} else {
  print(
    """
    \(arguments.seeds) seeds; each: median / 95 % of the seeds / worst (its seed)

    | case | use, % | queueing p95, ms | a picture p95, ms | refused, % | Jain | 80 % of a rise, s | < 100 ms after a drop, s | lowest target, % |
    |---|---|---|---|---|---|---|---|---|
    """)
  for test in cases {
    print(row(test, await run(test, arguments)))
    fflush(nil)
  }
}
