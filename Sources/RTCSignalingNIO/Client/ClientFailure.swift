import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import RTCDTLS
import RTCSignaling

/// Makes one error of ours out of the many that the layers below throw.
enum ClientFailure {
  static func explain(
    _ error: any Error, at address: WebAddress, _ configuration: WHIPClient.Configuration
  ) -> WHIPError {
    switch error {
    case let error as WHIPError: error
    case is CancellationError, ChannelError.connectTimeout, HTTPExchange.Failure.timeout:
      .timeout(address, seconds: Int(configuration.timeout))
    case HTTPExchange.Failure.handshakeTimeout:
      .tls(address, reason: "the TLS handshake took too long; the server may expect http:// or ws://")
    case HTTPExchange.Failure.bodyTooLong: .tooLarge(limit: configuration.bodyLimit)
    case HTTPExchange.Failure.ended, HTTPParserError.invalidEOFState, TLSFailure.truncated:
      .brokenAnswer("the server closed the connection in the middle of it")
    case let error as NIOConnectionError: explain(error, at: address, configuration)
    case let error as IOError: explain(error, at: address)
    case let error as TLSFailure: .tls(address, reason: sentence(error))
    case let error as TLSConfigurationError: .tls(address, reason: sentence(error))
    case is HTTPParserError: .brokenAnswer("the answer is not HTTP" + hint(address))
    case is SocketAddressError, is SocketAddressError.UnknownHost: .unknownHost(address.host.text)
    default: .brokenAnswer(String(describing: error))
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
    case ECONNRESET, EPIPE: .brokenAnswer("the server reset the connection" + hint(address))
    default: .unreachable(address, reason: error.description)
    }
  }

  /// A plain-text request to a server that speaks TLS ends with one of these errors.
  private static func hint(_ address: WebAddress) -> String {
    address.scheme == .http ? "; the server may expect https:// or wss://" : ""
  }

  private static func sentence(_ failure: TLSFailure) -> String {
    switch failure {
    case .certificate(let fault): sentence(fault)
    case .notTLS: "the server does not speak TLS there; use http:// or ws:// if that is intended"
    case .alert(let number): "the server refused it (alert \(number))"
    case .endedInHandshake: "the server closed the connection during the handshake"
    case .truncated: "the connection was cut off"
    case .protocolViolation(let error): "the server's TLS is broken or too old (\(error))"
    }
  }

  private static func sentence(_ fault: TLSFailure.CertificateFault) -> String {
    switch fault {
    case .untrusted:
      "this machine does not trust the server's certificate; to trust it, name its PEM file in SSL_CERT_FILE"
    case .wrongHost: "the server's certificate is for another name"
    case .expired: "the server's certificate has expired"
    case .notYetValid: "the server's certificate is not valid yet; is this machine's clock right?"
    case .refused: "the server's certificate is not the expected one"
    case .unusable(let reason): "the server's certificate cannot be used (\(reason))"
    }
  }

  private static func sentence(_ error: TLSConfigurationError) -> String {
    switch error {
    case .noTrustRoots(let file):
      "\(file), the file of trusted certificates, has none or cannot be read; see SSL_CERT_FILE"
    case .badHost(let name): "a certificate cannot have the name \(name)"
    case .unavailable(let error): "it cannot be set up here (\(error))"
    case .noCertificate, .noPrivateKey, .keyOfAnotherCertificate, .weakCertificate: "\(error)"  // a server's
    }
  }
}
