/// What a service manager says to a service in its environment (systemd.exec(5)).
package struct ServiceEnvironment: Sendable {
  package static let names = [
    "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
  ]
  /// Sockets are passed from this descriptor on.
  private static let firstSocket: Int32 = 3
  private static let mostSockets: Int32 = 64

  /// A path, or a name that begins with `@`; nil: no messages are expected.
  package let notifySocket: String?
  /// The longest time without a sign of life; nil: none is expected.
  package let watchdog: Duration?
  /// Descriptors of passed sockets.
  package let sockets: [Int32]

  /// - Parameters:
  ///   - process: this process; what is meant for another one does not count.
  ///   - variable: the value of a variable.
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
