import RTCSignaling

/// One thing that a cast needs or is better with.
struct Check: Sendable {
  enum Verdict: String, Sendable {
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

  var name: String
  var verdict: Verdict
  /// What was found.
  var finding: String
  /// What to install or do; nil when there is nothing to do.
  var advice: String?

  static func works(_ name: String, _ finding: String) -> Check { Check(name: name, verdict: .works, finding: finding) }

  static func lacks(_ name: String, _ finding: String, advice: String) -> Check {
    Check(name: name, verdict: .lacks, finding: finding, advice: advice)
  }

  static func fails(_ name: String, _ finding: String, advice: String? = nil) -> Check {
    Check(name: name, verdict: .fails, finding: finding, advice: advice)
  }

  var lines: String {
    let column = 17
    let head = "\(verdict.mark) \(name)" + String(repeating: " ", count: max(1, column - name.count)) + finding
    return advice.map { head + "\n" + String(repeating: " ", count: column + 2) + "→ \($0)" } ?? head
  }

  var object: JSONValue {
    [
      "check": .string(name), "verdict": .string(verdict.rawValue), "finding": .string(finding),
      "advice": .optional(advice),
    ]
  }
}
