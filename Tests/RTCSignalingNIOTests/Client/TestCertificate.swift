import NIOSSL

/// A self-signed certificate for `localhost` and 127.0.0.1, good for a century and for nothing but these tests.
enum TestCertificate {
  static let certificate = """
    -----BEGIN CERTIFICATE-----
    MIIBmzCCAUGgAwIBAgIUW+HDZFLDW6xpI/dBdvXqBwn/v+QwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTA0NDc1NloYDzIxMjYxMDI4
    MDQ0NzU2WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAATPtabj1/VMJe58AxFvj51RrExKwOcdqwo5TfX4JYEA4cljlqA6ZMuh
    AEIFtOi5Af39kiuTPenJViU9rLj4zrWno28wbTAdBgNVHQ4EFgQUz/OQ33bvhuh2
    AFgA4AWouqsIH1owHwYDVR0jBBgwFoAUz/OQ33bvhuh2AFgA4AWouqsIH1owGgYD
    VR0RBBMwEYIJbG9jYWxob3N0hwR/AAABMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZI
    zj0EAwIDSAAwRQIhAOV1iP370WGoCKT+MAVDH18tNQScTD52h3iRtMO//hJIAiB4
    /pUWSOd5PPbKVXEb4t71MT5qiOU3JyVkzE7baj4GuQ==
    -----END CERTIFICATE-----
    """

  static let privateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgMC1xMBajkzEGoBv1
    crLPOzP0tp0C4JA++pvG+YgWloqhRANCAATPtabj1/VMJe58AxFvj51RrExKwOcd
    qwo5TfX4JYEA4cljlqA6ZMuhAEIFtOi5Af39kiuTPenJViU9rLj4zrWn
    -----END PRIVATE KEY-----
    """

  static func serverContext() throws -> NIOSSLContext {
    let chain = try NIOSSLCertificate.fromPEMBytes(Array(certificate.utf8)).map {
      NIOSSLCertificateSource.certificate($0)
    }
    let key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
    return try NIOSSLContext(
      configuration: .makeServerConfiguration(certificateChain: chain, privateKey: .privateKey(key)))
  }
}
