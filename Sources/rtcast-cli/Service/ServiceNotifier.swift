import Glibc
import RTCNet
import RTCPrimitives
import Synchronization

/// The connection to the service manager that started this process: systemd, or another one with its protocol. It
/// reports that the service is ready, alive or stopping (sd_notify(3)), and holds the passed sockets
/// (sd_listen_fds(3)). Any thread may use it.
final class ServiceNotifier: Sendable {
  private static let found = Mutex<ServiceNotifier?>(nil)
  private static let passed = Mutex<[Int32]>([])

  /// The notifier of this process; nil if no service manager waits for messages.
  static var current: ServiceNotifier? { found.withLock { $0 } }

  /// The descriptors of the sockets that the service manager passed; none after the first call.
  static func takeSockets() -> [Int32] {
    passed.withLock { sockets in
      defer { sockets = [] }
      return sockets
    }
  }

  /// Whether the service manager passed sockets that were not taken yet.
  static var hasSockets: Bool { passed.withLock { !$0.isEmpty } }

  private let socket: Int32
  /// The longest time without a sign of life; nil if none is expected.
  private let watchdog: Duration?
  private let lastStatus = Mutex("")

  private init(socket: Int32, watchdog: Duration?) { (self.socket, self.watchdog) = (socket, watchdog) }

  /// Reads the service manager's variables from the environment, and removes them: programs that this one starts are
  /// not services. It must run before the process confines itself and before it has threads.
  static func find() {
    let environment = ServiceEnvironment(process: getpid()) { name in getenv(name).map { String(cString: $0) } }
    for name in ServiceEnvironment.names { unsetenv(name) }
    let sockets = environment.sockets.filter { fcntl($0, F_SETFD, FD_CLOEXEC) == 0 }
    passed.withLock { $0 = sockets }
    guard let path = environment.notifySocket else { return }
    guard let socket = connect(to: path) else {
      return StandardErrorLog.logger(verbosity: 0).warning(
        "The service manager's socket \(path) cannot be reached: \(String(cString: strerror(errno))).")
    }
    found.withLock { $0 = ServiceNotifier(socket: socket, watchdog: environment.watchdog) }
  }

  /// Connects a socket for messages to the service manager, or to its journal.
  /// - Parameter path: a path; with `@` in front, a name that is not a file.
  static func connect(to path: String) -> Int32? {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return nil }
    // The longest delay of the program by a service manager that takes no messages.
    var patience = timeval(tv_sec: 1, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let name = path.hasPrefix("@") ? "\0" + path.dropFirst() : path
    let status = LocalAddress.with(name) { Glibc.connect(socket, $0, $1) }
    guard status == 0 else {
      let reason = errno
      close(socket)
      errno = reason
      return nil
    }
    return socket
  }

  func tell(_ notices: ServiceNotice...) {
    let text = notices.map(\.text).joined(separator: "\n")
    _ = text.withCString { send(socket, $0, text.utf8.count, Int32(MSG_NOSIGNAL)) }
  }

  /// Sends a sentence about the state, if it differs from the last one.
  func tell(status: String) {
    let isNew = lastStatus.withLock { last in
      defer { last = status }
      return last != status
    }
    if isNew { tell(.status(status)) }
  }

  /// Reports that the program reads its settings again. The caller reports `.ready` afterwards.
  func tellReloading() { tell(.reloading(time: MonotonicClock.now().microseconds)) }

  /// Calls `body` twice in each period in which the service manager expects a sign of life. Nil if it expects none.
  func beats(_ body: @escaping @Sendable () -> Void) -> Task<Void, Never>? {
    guard let watchdog else { return nil }
    return Task { while (try? await Task.sleep(for: watchdog / 2)) != nil { body() } }
  }
}

/// A message to the service manager: lines of NAME=VALUE (sd_notify(3)).
package enum ServiceNotice: Hashable, Sendable {
  case ready
  /// The program reads its settings again.
  /// - Parameter time: the time of the monotonic clock, in microseconds.
  case reloading(time: Int64)
  case stopping
  /// A sign of life.
  case watchdog
  /// A sentence about the state of the service, without a secret, for the service manager's reports.
  case status(String)

  package var text: String {
    switch self {
    case .ready: "READY=1"
    case .reloading(let time): "RELOADING=1\nMONOTONIC_USEC=\(time)"
    case .stopping: "STOPPING=1"
    case .watchdog: "WATCHDOG=1"
    // A line break would begin another line of the message.
    case .status(let sentence): "STATUS=\(sentence.foreignText(limit: 500))"
    }
  }
}
