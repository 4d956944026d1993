import Foundation

/// The maximum cost of a fuzzer's input: a fixed part, and a part for each byte. A cost that grows with anything but
/// the size of the input would stop the media of all connections, because one loop serves them.
struct CostBound {
  /// The measures, in the order of a line's columns.
  static let measures = ["steps", "allocations", "allocated bytes"]

  private var fixed: [Int] = []
  private var perByte: [Int] = []

  /// Reads the line of a target from a file such as `Fuzz/costs.txt`; nil if it has no proper one.
  init?(of target: String, in file: String) {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
    let rows = text.split(separator: "\n").map { $0.split(separator: " ") }
    guard let row = rows.first(where: { $0.first == Substring(target) }) else { return nil }
    let numbers = row.dropFirst().compactMap { Int($0) }
    guard numbers.count == 2 * Self.measures.count else { return nil }
    fixed = stride(from: 0, to: numbers.count, by: 2).map { numbers[$0] }
    perByte = stride(from: 1, to: numbers.count, by: 2).map { numbers[$0] }
  }

  /// The maximum of each measure for an input.
  func allowed(inputBytes: Int) -> [Int] { fixed.indices.map { fixed[$0] + perByte[$0] * inputBytes } }
}
