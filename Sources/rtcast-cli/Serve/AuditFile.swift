import Glibc
import Logging
import RTCNet
import RTCSignaling
import Synchronization

/// The file of `--audit`: a line of JSON for each access decision, appended.
final class AuditFile: Sendable {
  // Non-blocking: a pipe without a reader must not block the server.
  static let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK
  static let mode: mode_t = 0o600

  private struct State {
    var lines: AuditLines
    var hasFailed = false
  }

  private let file: Int32
  private let path: String
  private let logger: Logger
  private let state: Mutex<State>

  /// Opens the file, or makes it. Others than this user cannot read it: it says who was there.
  init(_ path: String, _ logger: Logger) throws(CastFailure) {
    file = NamedFile.create(path, Self.flags, mode: Self.mode)
    guard file >= 0 else { throw Self.failure(path, -file) }
    (self.path, self.logger) = (path, logger)
    state = Mutex(State(lines: AuditLines(now: MonotonicClock.now())))
  }

  deinit {
    finish()
    close(file)
  }

  /// Any thread.
  func write(_ event: AuditEvent) {
    state.withLock { state in write(state.lines.lines(for: event, at: Self.time, now: MonotonicClock.now()), &state) }
  }

  /// Writes the number of lines left out at the end.
  func finish() { state.withLock { state in write(state.lines.omitted(at: Self.time), &state) } }

  private func write(_ lines: String, _ state: inout State) {
    guard !lines.isEmpty, !state.hasFailed, let reason = WholeFile.write(Array(lines.utf8), to: file) else { return }
    state.hasFailed = true
    logger.warning("\(Self.failure(path, reason).sentence) Nothing more is written there.")
  }

  /// The time as in RFC 3339, in UTC.
  private static var time: String {
    let nanoseconds = WallClock.now()
    var seconds = time_t(nanoseconds / 1_000_000_000)
    var parts = tm()
    guard gmtime_r(&seconds, &parts) != nil else { return "" }
    func digits(_ value: some BinaryInteger, _ count: Int) -> String {
      let text = String(value)
      return String(repeating: "0", count: max(0, count - text.count)) + text
    }
    let date = [digits(parts.tm_year + 1_900, 4), digits(parts.tm_mon + 1, 2), digits(parts.tm_mday, 2)]
    let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits($0, 2) }
    let milliseconds = digits(nanoseconds / 1_000_000 % 1_000, 3)
    return "\(date.joined(separator: "-"))T\(clock.joined(separator: ":")).\(milliseconds)Z"
  }

  private static func failure(_ path: String, _ reason: Int32) -> CastFailure {
    let isForbidden = reason == EACCES || reason == EPERM || reason == EROFS
    return CastFailure(
      isForbidden ? .notPermitted : .cannotCreate,
      "The audit log \(path) cannot be written: \(String(cString: strerror(reason))).")
  }
}
