import AsyncHTTPClient
import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import RTCSignaling

/// Makes one error of ours out of the many that the layers below throw.
enum ClientFailure {
  static func explain(
    _ error: any Error, at address: WebAddress, _ configuration: WHIPClient.Configuration
  ) -> WHIPError {
    switch error {
    case let error as WHIPError: error
    case is CancellationError, ChannelError.connectTimeout: .timeout(address, seconds: Int(configuration.timeout))
    case let error as HTTPClientError: explain(error, at: address, configuration)
    case let error as NIOConnectionError: explain(error, at: address, configuration)
    case let error as IOError: explain(error, at: address)
    case let error as NIOSSLError: .tls(address, reason: tlsReason(String(describing: error)))
    case let error as NIOSSLExtraError: .tls(address, reason: tlsReason(String(describing: error)))
    case let error as BoringSSLError: .tls(address, reason: tlsReason(String(describing: error)))
    case is NIOTooManyBytesError: .tooLarge(limit: configuration.bodyLimit)
    case is HTTPParserError: .brokenAnswer("it is not HTTP")
    case is SocketAddressError, is SocketAddressError.UnknownHost: .unknownHost(address.host.text)
    default: .brokenAnswer(String(describing: error))
    }
  }

  private static func explain(
    _ error: HTTPClientError, at address: WebAddress, _ configuration: WHIPClient.Configuration
  ) -> WHIPError {
    switch error {
    case .deadlineExceeded, .readTimeout, .writeTimeout, .connectTimeout, .cancelled, .getConnectionFromPoolTimeout:
      .timeout(address, seconds: Int(configuration.timeout))
    case .tlsHandshakeTimeout: .tls(address, reason: "the handshake took too long; is it http:// there?")
    case .remoteConnectionClosed: .brokenAnswer("the server closed the connection in the middle of it")
    case .invalidURL, .emptyHost, .emptyScheme: .badURL(address.description)
    default: .brokenAnswer(error.shortDescription)
    }
  }

  private static func explain(
    _ error: NIOConnectionError, at address: WebAddress, _ configuration: WHIPClient.Configuration
  ) -> WHIPError {
    guard let first = error.connectionErrors.first else { return .unknownHost(address.host.text) }
    // One address of several that refuses says more than another that cannot be reached at all.
    let refusal = error.connectionErrors.first { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }
    return explain((refusal ?? first).error, at: address, configuration)
  }

  private static func explain(_ error: IOError, at address: WebAddress) -> WHIPError {
    switch error.errnoCode {
    case ECONNREFUSED: .refused(address)
    case ETIMEDOUT: .unreachable(address, reason: "connecting timed out")
    case EHOSTUNREACH: .unreachable(address, reason: "no route to the host")
    case ENETUNREACH: .unreachable(address, reason: "the network is unreachable")
    case ECONNRESET, EPIPE: .brokenAnswer("the server reset the connection")
    default: .unreachable(address, reason: error.description)
    }
  }

  private static func tlsReason(_ text: String) -> String {
    if text.contains("CERTIFICATE_VERIFY_FAILED") { return "this machine does not trust the server's certificate" }
    if text.contains("WRONG_VERSION_NUMBER") || text.contains("HTTP_REQUEST") {
      return "it does not speak TLS there; is it http://?"
    }
    if text.contains("unableToValidateCertificate") || text.lowercased().contains("hostname") {
      return "the server's certificate is for another name"
    }
    if text.contains("uncleanShutdown") || text.contains("EOF") {
      return "the server closed the connection during the handshake"
    }
    return text
  }
}
