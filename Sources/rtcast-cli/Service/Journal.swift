import Glibc
import Logging
import Synchronization

/// The journal of systemd, while standard error leads there. Any thread may use it.
enum Journal {
  /// The socket of the journal's native protocol.
  private static let path = "/run/systemd/journal/socket"
  /// The variable that names another socket.
  private static let variable = "RTCAST_JOURNAL_SOCKET"

  /// The socket; -1: none was found.
  private static let socket = Atomic<Int32>(-1)

  /// Whether standard error is the stream that the service manager connected to the journal (systemd.exec(5)).
  static let isConnected: Bool = {
    var status = stat()
    guard let stream = getenv("JOURNAL_STREAM"), fstat(STDERR_FILENO, &status) == 0 else { return false }
    return String(cString: stream) == "\(status.st_dev):\(status.st_ino)"
  }()

  /// Connects to the journal, if standard error leads there. It must run before the process confines itself.
  static func find() {
    guard isConnected else { return }
    let path = getenv(variable).map { String(cString: $0) } ?? path
    guard let found = ServiceNotifier.connect(to: path) else { return }
    _ = fcntl(found, F_SETFL, fcntl(found, F_GETFL) | O_NONBLOCK)
    socket.store(found, ordering: .relaxed)
  }

  /// Writes an entry: with its fields by the native protocol, else as a line of standard error with its priority.
  /// - Returns: false unless standard error leads to the journal.
  static func write(_ message: String, _ level: Logger.Level, details: [(key: String, value: String)] = []) -> Bool {
    guard isConnected else { return false }
    let priority = JournalEntry.priority(of: level)
    let native = socket.load(ordering: .relaxed)
    if native >= 0 {
      let bytes = JournalEntry(message, priority: priority, details: details).bytes
      let count = bytes.withUnsafeBytes { send(native, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      if count == bytes.count { return true }
    }
    let words = details.map { " \($0.key)=\($0.value)" }
    Terminal.log("<\(priority)>\(message)\(words.joined())")
    return true
  }
}
