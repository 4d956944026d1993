import Glibc
import Logging
import RTCPrimitives

/// Log lines on standard error: time of day, level, message, and what goes with it. In the journal, which has the time, they are
/// entries with a priority and fields.
struct StandardErrorLog: LogHandler {
  var logLevel: Logger.Level
  var metadata = Logger.Metadata()

  /// - Parameter verbosity: how often `--verbose` was given.
  static func logger(verbosity: Int) -> Logger {
    let level: Logger.Level =
      switch verbosity {
      // The journal can be read by priority.
      case 0: Journal.isConnected ? .info : .warning
      case 1: .info
      case 2: .debug
      default: .trace
      }
    return Logger(label: "rtcast") { _ in StandardErrorLog(logLevel: level) }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = metadata.merging(event.metadata ?? [:]) { _, new in new }
      .sorted { $0.key < $1.key }
      .map { (key: $0.key, value: Self.oneLine("\($0.value)")) }
    let message = Self.oneLine("\(event.message)")
    if Journal.write(message, event.level, details: details) { return }
    let words = details.map { " \($0.key)=\($0.value)" }
    Terminal.log("\(Self.timeOfDay) \(event.level) \(message)\(words.joined())")
  }

  /// A line break in a message would forge a line of the log.
  private static func oneLine(_ text: String) -> String { text.foreignText(limit: longest) }
  /// Characters of a message, and of each detail.
  private static let longest = 2_000

  private static var timeOfDay: String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var parts = tm()
    localtime_r(&now.tv_sec, &parts)
    func padded(_ n: some BinaryInteger, _ width: Int) -> String {
      let digits = String(n)
      return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
    return "\(padded(parts.tm_hour, 2)):\(padded(parts.tm_min, 2)):\(padded(parts.tm_sec, 2))."
      + padded(now.tv_nsec / 1_000_000, 3)
  }
}
