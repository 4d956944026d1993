import NIOSSL

/// What an HTTPS server shows: a chain of certificates, its own first, and the key of that one, both in PEM.
public struct TLSIdentity: Sendable, Equatable {
  public var certificates: [UInt8]
  public var privateKey: [UInt8]

  public init(certificates: [UInt8], privateKey: [UInt8]) {
    self.certificates = certificates
    self.privateKey = privateKey
  }

  func context() throws(SignalingServerError) -> NIOSSLContext {
    let chain: [NIOSSLCertificate]
    do { chain = try NIOSSLCertificate.fromPEMBytes(certificates) } catch {
      throw .badCertificate("the certificate is not PEM (-----BEGIN CERTIFICATE-----)")
    }
    guard !chain.isEmpty else { throw .badCertificate("there is no certificate in it") }
    let key: NIOSSLPrivateKey
    do { key = try NIOSSLPrivateKey(bytes: privateKey, format: .pem) } catch {
      throw .badCertificate("the key is not PEM without a passphrase (-----BEGIN PRIVATE KEY-----)")
    }
    var configuration = TLSConfiguration.makeServerConfiguration(
      certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
    configuration.minimumTLSVersion = .tlsv12
    configuration.applicationProtocols = ["http/1.1"]
    do { return try NIOSSLContext(configuration: configuration) } catch {
      throw .badCertificate("the key does not belong to the certificate")
    }
  }
}
