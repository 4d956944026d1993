/// The connectivity checks of a viewer that is not connected yet, as its browser counts them: `RTCast-Checks: sent=12, answered=0,
/// received=3` with a HEAD of its session. The response says in `RTCast-Diagnosis` why there is no connection.
public struct ViewerChecks: Hashable, Sendable {
  /// Checks that the browser sent.
  public var sent: Int
  /// Answers to them.
  public var answered: Int
  /// Checks that came from here.
  public var received: Int

  package static let requestHeader = "RTCast-Checks"
  package static let responseHeader = "RTCast-Diagnosis"

  /// Makes the counts.
  public init(sent: Int = 0, answered: Int = 0, received: Int = 0) {
    (self.sent, self.answered, self.received) = (sent, answered, received)
  }

  /// From the header's value; numbers that cannot be read are zero.
  package init(parsing text: String) {
    self.init()
    for pair in text.split(separator: ",", maxSplits: 8) {
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.trimmingBlanks() }
      guard parts.count == 2, parts[1].utf8.count <= 6, let count = Int(parts[1]), count >= 0 else { continue }
      switch parts[0] {
      case "sent": sent = count
      case "answered": answered = count
      case "received": received = count
      default: continue
      }
    }
  }
}
