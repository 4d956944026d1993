package import RTCPrimitives

/// One client of a control socket, without its socket: lines that it sent, and answers that it has not yet read. A value.
///
/// Memory is bounded: a client that sends more than it is answered is not read from, and one that does not read its answers is
/// disconnected.
package struct ControlClient: Sendable {
  /// Lines that are being carried out at a time.
  package static let mostUnanswered = 16
  /// Answers that wait to be read, in bytes.
  package static let mostBacklog = 1 << 20
  /// A client that reads nothing while answers wait is disconnected after this long.
  package static let patience = TimeDelta.seconds(10)

  private var splitter = LineSplitter(longestLine: ControlRequest.longestLine)
  /// Lines that wait to be carried out.
  private var lines: [LineSplitter.Line] = []
  private var unanswered = 0
  /// Answers that wait to be sent.
  package private(set) var backlog: [UInt8] = []
  /// It sends no more.
  private var hasEnded = false
  /// Since when nothing of the backlog could be sent; nil while there is none.
  private var waitingSince: Timestamp?

  package init() {}

  /// Whether it is time to read from it.
  package var wantsInput: Bool { !hasEnded && lines.isEmpty && unanswered < Self.mostUnanswered }

  /// Takes what it sent.
  package mutating func receive(_ bytes: some Sequence<UInt8>) { lines += splitter.take(bytes) }

  /// It sends no more. What it has sent is still carried out and answered.
  package mutating func receiveEnd() {
    hasEnded = true
    if let line = splitter.end() { lines.append(line) }
  }

  /// The next line to carry out, which must be answered; nil while it has none, or enough are being carried out.
  package mutating func next() -> LineSplitter.Line? {
    guard !lines.isEmpty, unanswered < Self.mostUnanswered else { return nil }
    unanswered += 1
    return lines.removeFirst()
  }

  /// Answers the oldest line that is being carried out.
  /// - Returns: false when the client is to be disconnected, as it has not read earlier answers.
  package mutating func answer(_ text: String, now: Timestamp) -> Bool {
    unanswered -= 1
    guard backlog.count + text.utf8.count < Self.mostBacklog else { return false }
    if backlog.isEmpty { waitingSince = now }
    backlog += text.utf8
    backlog.append(0x0A)
    return true
  }

  /// So many bytes of the backlog have been sent.
  package mutating func sent(_ count: Int, now: Timestamp) {
    backlog.removeFirst(count)
    waitingSince = backlog.isEmpty ? nil : now
  }

  /// When the client is to be disconnected unless it reads; nil: it has nothing to read.
  package var deadline: Timestamp? { waitingSince.map { $0 + Self.patience } }

  /// Whether all that it sent was answered, and it sends no more.
  package var isDone: Bool { hasEnded && lines.isEmpty && unanswered == 0 && backlog.isEmpty }
}
