/// The environment variables by which a service manager informs a service (systemd.exec(5)).
package struct ServiceEnvironment: Sendable {
  package static let names = [
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
  ]
  /// The first descriptor of passed sockets.
  private static let firstSocket: Int32 = 3
  private static let mostSockets: Int32 = 64

  /// The address for messages: a path, or a name that begins with `@`. Nil if no messages are expected.
  package let notifySocket: String?
  /// The longest time without a sign of life; nil if none is expected.
  package let watchdog: Duration?
  /// The descriptors of the passed sockets.
  package let sockets: [Int32]

  /// - Parameters:
  ///   - process: the number of this process; variables for another process are ignored.
  ///   - variable: returns the value of a variable.
  package init(process: Int32, variable: (String) -> String?) {
    notifySocket = variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isWatched = variable("WATCHDOG_PID").map { $0 == "\(process)" } ?? true
    let microseconds = variable("WATCHDOG_USEC").flatMap { Int64($0) } ?? 0
    watchdog = isWatched && microseconds > 0 ? .microseconds(microseconds) : nil
    let count = variable("LISTEN_FDS").flatMap { Int32($0) } ?? 0
    guard variable("LISTEN_PID") == "\(process)", (1...Self.mostSockets).contains(count) else {
      sockets = []
      return
    }
    sockets = (0..<count).map { Self.firstSocket + $0 }
  }
}
