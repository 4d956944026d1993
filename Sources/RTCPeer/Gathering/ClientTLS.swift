import RTCDTLS
import Synchronization

/// The TLS context of a loop's connections to its servers, made on first use. Reading the system's certificates takes
/// some milliseconds, so call it on another thread than the loop's.
final class ClientTLS: Sendable {
  private let roots: TLSContext.TrustRoots
  private let made = Mutex<TLSContext?>(nil)

  /// - Parameter file: PEM with the trusted certificates; nil: the system's, or the file in `SSL_CERT_FILE`.
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
