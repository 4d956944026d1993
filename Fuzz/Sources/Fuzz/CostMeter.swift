import CFuzzCost
import FuzzTargets
import Glibc

/// Runs the body of a target and compares what each input costs with the bound of the target. Used on one thread.
final class CostMeter: Sendable {
  private let target: FuzzTarget
  /// Nil: costs are shown and not judged.
  private let bound: CostBound?
  /// The dearest input so far, by measure: relative to the bound or, without one, to the size. libFuzzer calls the body on
  /// the main thread alone.
  nonisolated(unsafe) private var dearest = [Share](repeating: Share(), count: CostBound.measures.count)

  private struct Share {
    var cost = 0
    var allowed = 1
    var inputBytes = 0
  }

  init(_ target: FuzzTarget, bound: CostBound?) {
    self.target = target
    self.bound = bound
  }

  /// Runs the body over an input. Aborts, for libFuzzer to keep the input, if it costs more than the bound.
  func run(_ input: UnsafeRawBufferPointer) {
    let cost = measure(input)
    guard let bound else { return note(cost, allowed: cost.map { _ in max(64, input.count) }, input.count) }
    let allowed = bound.allowed(inputBytes: input.count)
    if isWithin(cost, allowed) { return note(cost, allowed: allowed, input.count) }
    // The first run of a piece of code also makes its constants, so a second one decides.
    let again = measure(input)
    note(again, allowed: allowed, input.count)
    for (index, name) in CostBound.measures.enumerated() where again[index] > allowed[index] {
      complain(
        "\(target.name) costs too much: \(again[index]) \(name) for \(input.count) bytes, where \(allowed[index]) are allowed."
      )
    }
    if !isWithin(again, allowed) { abort() }
  }

  /// Prints how near the dearest inputs came to the bound.
  func report() {
    let parts = zip(CostBound.measures, dearest).map { name, share in
      let part = bound == nil ? "" : "\(share.cost * 100 / share.allowed) % of the "
      return "\(part)\(name) (\(share.cost) for \(share.inputBytes) bytes)"
    }
    complain("cost: \(target.name) took up to \(parts.joined(separator: ", "))")
  }

  private func measure(_ input: UnsafeRawBufferPointer) -> [Int] {
    let before = fuzz_cost_now()
    target.body(Span(_unsafeElements: input.bindMemory(to: UInt8.self)))
    let after = fuzz_cost_now()
    return [
      Int(after.steps - before.steps), Int(after.allocations - before.allocations), Int(after.bytes - before.bytes),
    ]
  }

  private func isWithin(_ cost: [Int], _ allowed: [Int]) -> Bool { zip(cost, allowed).allSatisfy { $0 <= $1 } }

  private func note(_ cost: [Int], allowed: [Int], _ inputBytes: Int) {
    for index in cost.indices where cost[index] * dearest[index].allowed > dearest[index].cost * allowed[index] {
      dearest[index] = Share(cost: cost[index], allowed: allowed[index], inputBytes: inputBytes)
    }
  }
}

/// Writes a line to standard error.
func complain(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  _ = write(STDERR_FILENO, bytes, bytes.count)
}
