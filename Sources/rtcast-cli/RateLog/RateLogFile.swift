import Glibc
import Logging
import RTCast
import Synchronization

/// The file of `--rtc-log`. A write error is reported once.
final class RateLogFile: Sendable {
  static let flags = O_WRONLY | O_TRUNC | O_NOFOLLOW
  static let mode: mode_t = 0o600

  let log: RateLog

  /// Makes the file, or empties it. Only this user can read it, since it names viewers.
  init(_ path: String, _ logger: Logger) throws(CastFailure) {
    let file = NamedFile.create(path, Self.flags, mode: Self.mode)
    guard file >= 0 else { throw Self.failure(path, -file) }
    let output = Output(file)
    do {
      log = try RateLog { lines in
        guard let reason = output.write(lines) else { return }
        logger.warning("\(Self.failure(path, reason).sentence) Nothing more is logged there.")
      }
    } catch {
      throw CastFailure(.unavailable, "\(error)")
    }
  }

  /// Returns when all is in the file.
  func close() { log.close() }

  private static func failure(_ path: String, _ reason: Int32) -> CastFailure {
    let isForbidden = reason == EACCES || reason == EPERM || reason == EROFS
    return CastFailure(
      isForbidden ? .notPermitted : .cannotCreate,
      "The rate log \(path) cannot be written: \(String(cString: strerror(reason))).")
  }

  private final class Output: Sendable {
    private let file: Int32
    private let hasFailed = Atomic(false)

    init(_ file: Int32) { self.file = file }
    deinit { Glibc.close(file) }

    /// - Returns: why it failed, the first time.
    func write(_ text: String) -> Int32? {
      guard !hasFailed.load(ordering: .relaxed) else { return nil }
      guard let reason = WholeFile.write(Array(text.utf8), to: file) else { return nil }
      hasFailed.store(true, ordering: .relaxed)
      return reason
    }
  }
}
