package import RTCSignaling

/// One thing that a cast needs or is better with.
package struct Check: Sendable {
  package enum Verdict: String, Sendable {
    case works
    /// Casting works without it, at a cost.
    case lacks
    /// Casting is not possible.
    case fails

    var mark: String {
      switch self {
      case .works: "✓"
      case .lacks: "!"
      case .fails: "✗"
      }
    }
  }

  package var name: String
  package var verdict: Verdict
  /// The result of the check.
  package var finding: String
  /// The remedy; nil if there is nothing to do.
  package var advice: String?
  /// Further fields of the JSON object.
  package var details: [(String, JSONValue)] = []

  static func works(_ name: String, _ finding: String) -> Check { Check(name: name, verdict: .works, finding: finding) }

  static func lacks(_ name: String, _ finding: String, advice: String) -> Check {
    Check(name: name, verdict: .lacks, finding: finding, advice: advice)
  }

  static func fails(_ name: String, _ finding: String, advice: String? = nil) -> Check {
    Check(name: name, verdict: .fails, finding: finding, advice: advice)
  }

  /// - Parameter column: where findings begin.
  package func lines(column: Int = 17) -> String {
    let head = "\(verdict.mark) \(name)" + String(repeating: " ", count: max(1, column - name.count)) + finding
    return advice.map { head + "\n" + String(repeating: " ", count: column + 2) + "→ \($0)" } ?? head
  }

  package var object: JSONValue {
    .object(
      [
        ("check", .string(name)), ("verdict", .string(verdict.rawValue)), ("finding", .string(finding)),
        ("advice", .optional(advice)),
      ] + details)
  }
}
