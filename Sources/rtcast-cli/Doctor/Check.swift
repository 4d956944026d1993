package import RTCSignaling

/// One thing that a cast needs or is better with.
package struct Check: Sendable {
  package enum Verdict: String, Sendable {
    case works
    /// Casting goes on without it, at a price.
    case lacks
    /// Nothing can be cast.
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
  /// What was found.
  package var finding: String
  /// What to install or do; nil when there is nothing to do.
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
