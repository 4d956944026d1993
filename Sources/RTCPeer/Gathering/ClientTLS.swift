import RTCDTLS
import Synchronization

/// What all TLS connections of a loop to its servers share, made when it is first needed: reading the system's certificates takes
/// some milliseconds, which the loop's thread must not wait. Any thread but that.
final class ClientTLS: Sendable {
  private let roots: TLSContext.TrustRoots
  private let made = Mutex<TLSContext?>(nil)

  /// - Parameter file: PEM with the certificates to trust; nil: those that the system trusts, or `SSL_CERT_FILE` names.
  init(trusting file: String?) { roots = file.map { .file($0) } ?? .system }

  func context() throws(TLSConfigurationError) -> TLSContext {
    try made.withLock { made throws(TLSConfigurationError) in
      if let made { return made }
      // No application protocol is named (RFC 7301): servers on port 443 take `http/1.1` for a browser's.
      let new = try TLSContext(trusting: roots, applicationProtocol: nil)
      made = new
      return new
    }
  }
}
