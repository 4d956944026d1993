import Logging
import RTCDTLS
import RTCSignaling
import Synchronization

/// Stores the used and revoked links of a secret for the next start of the server.
final class LinkLedgerFile: Sendable {
  private let path: String
  private let logger: Logger
  private let hasFailed = Atomic(false)

  /// Nil: nothing can be kept; a sentence has been logged.
  init?(of secret: AccessToken, _ logger: Logger) {
    // By the secret's hash: another secret has other links. It says nothing of the secret.
    let digest = try? MessageAuthentication.hmacSHA256(key: Array(secret.text.utf8), Array("rtcast ledger".utf8))
    let name = (digest ?? []).prefix(8).map { String(UInt16($0) | 0x100, radix: 16).dropFirst() }.joined()
    guard let folder = StateFolder.path, !name.isEmpty else {
      logger.warning(
        "Used and revoked links are forgotten at the end: neither HOME nor XDG_STATE_HOME says where to keep them.")
      return nil
    }
    path = "\(folder)/links-\(name)"
    self.logger = logger
  }

  /// The stored ledger.
  func read() throws(CastFailure) -> LinkLedger {
    guard WholeFile.exists(path) else { return LinkLedger() }
    let bytes = try WholeFile.read(path, limit: 16 << 20, what: "The list of used links")
    return LinkLedger(parsing: String(decoding: bytes, as: UTF8.self))
  }

  func write(_ ledger: LinkLedger) {
    do throws(CastFailure) {
      _ = try StateFolder.make()
      try WholeFile.writeSecretly(Array(ledger.text.utf8), to: path)
    } catch {
      guard !hasFailed.exchange(true, ordering: .relaxed) else { return }
      logger.warning("Used and revoked links are forgotten at the end. \(error.sentence)")
    }
  }
}
