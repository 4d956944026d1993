// Not Foundation: its members would take precedence in all tests that import this target.
import Glibc

/// The seeds of tests that repeat a scenario with other random numbers.
public enum TestSeeds {
  /// 1 to 50, or the range that the environment names: `RTCAST_SEEDS=51...550`.
  public static let all = unsafe getenv("RTCAST_SEEDS").flatMap { parse(unsafe String(cString: $0)) } ?? 1...50

  /// The range that a text of two numbers with three dots between them names; nil: the text names none.
  static func parse(_ text: String) -> ClosedRange<UInt64>? {
    let ends = text.split(separator: "...").compactMap { UInt64($0) }
    guard ends.count == 2, ends[0] <= ends[1] else { return nil }
    return ends[0]...ends[1]
  }
}
