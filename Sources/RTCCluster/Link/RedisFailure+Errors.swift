import Glibc
import NIOCore
import NIOPosix
import RTCDTLS

/// The failures of connections and of TLS.
extension RedisFailure {
  init(_ error: any Error) {
    switch error {
    case let error as RedisFailure: self = error
    case is RESPReader.Fault: self = .notRedis
    case ChannelError.connectTimeout: self = .timeout
    case let error as NIOConnectionError:
      // One address of several that refuses says more than another that cannot be reached at all.
      let refusal = error.connectionErrors.first { ($0.error as? IOError)?.errnoCode == ECONNREFUSED }
      guard let first = refusal ?? error.connectionErrors.first else {
        self = .unknownHost
        return
      }
      self.init(first.error)
    case let error as IOError:
      switch error.errnoCode {
      case ECONNREFUSED: self = .refusedConnection
      case ETIMEDOUT: self = .timeout
      case ECONNRESET, EPIPE: self = .closed
      case EHOSTUNREACH: self = .unreachable("no route to the host")
      case ENETUNREACH: self = .unreachable("the network is unreachable")
      default: self = .unreachable(error.description)
      }
    case let error as TLSFailure: self = Self.explain(error)
    case let error as TLSConfigurationError: self = .tls("it cannot be set up here (\(error))")
    case is SocketAddressError, is SocketAddressError.UnknownHost: self = .unknownHost
    default: self = .closed
    }
  }

  private static func explain(_ failure: TLSFailure) -> RedisFailure {
    switch failure {
    case .notTLS, .endedInHandshake:
      .tls("the server does not speak TLS on this port; use redis:// if that is intended")
    case .certificate(.untrusted):
      .tls("this machine does not trust its certificate; name the PEM file of its authority in SSL_CERT_FILE")
    case .certificate(.wrongHost): .tls("its certificate is for another name")
    case .certificate(.expired): .tls("its certificate has expired")
    case .certificate(.notYetValid): .tls("its certificate is not valid yet; is this machine's clock right?")
    case .certificate: .tls("its certificate cannot be used")
    case .alert, .protocolViolation: .tls("the handshake failed (\(failure))")
    case .truncated: .closed
    }
  }
}
