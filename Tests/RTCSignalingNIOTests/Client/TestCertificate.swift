import RTCDTLS
import RTCSignalingNIO

/// Certificates that vouch for themselves, good for a century and for nothing but these tests.
enum TestCertificate {
  /// For `localhost` and 127.0.0.1.
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

  /// For `elsewhere.example`; vouches for itself.
  static let elsewhere = """
    -----BEGIN CERTIFICATE-----
    MIIBbjCCARWgAwIBAgIUXIykTzFF3eaYuZbPBNRVkn0c8qgwCgYIKoZIzj0EAwIw
    FDESMBAGA1UEAwwJZWxzZXdoZXJlMCAXDTIwMDEwMTAwMDAwMFoYDzIxMjAwMTAx
    MDAwMDAwWjAUMRIwEAYDVQQDDAllbHNld2hlcmUwWTATBgcqhkjOPQIBBggqhkjO
    PQMBBwNCAATWQCl6xhmv/986go6uPB8kMrBfsYd7SS2rjlfu+NnC+5uxR7w5fCYb
    0eVrnc91jMEwBa2LaKyrJ3obSxtvPSkoo0MwQTAMBgNVHRMBAf8EAjAAMBMGA1Ud
    JQQMMAoGCCsGAQUFBwMBMBwGA1UdEQQVMBOCEWVsc2V3aGVyZS5leGFtcGxlMAoG
    CCqGSM49BAMCA0cAMEQCIC1mOdAteloaqr/sdVUNWMXJt3FthnkkgfF07Mn8nQ3L
    AiA8H5u0i/0yfJMHYP9Y0A/HUtwCR2Y9up4NnYRoTlG1XA==
    -----END CERTIFICATE-----
    """

  /// For `localhost` and 127.0.0.1, until 2 January 2020; vouches for itself.
  static let expired = """
    -----BEGIN CERTIFICATE-----
    MIIBaDCCAQ2gAwIBAgIUcZy5BqUGLKVqcWRcYzgAo6H3YXswCgYIKoZIzj0EAwIw
    EjEQMA4GA1UEAwwHZXhwaXJlZDAeFw0yMDAxMDEwMDAwMDBaFw0yMDAxMDIwMDAw
    MDBaMBIxEDAOBgNVBAMMB2V4cGlyZWQwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNC
    AATWQCl6xhmv/986go6uPB8kMrBfsYd7SS2rjlfu+NnC+5uxR7w5fCYb0eVrnc91
    jMEwBa2LaKyrJ3obSxtvPSkoo0EwPzAMBgNVHRMBAf8EAjAAMBMGA1UdJQQMMAoG
    CCsGAQUFBwMBMBoGA1UdEQQTMBGCCWxvY2FsaG9zdIcEfwAAATAKBggqhkjOPQQD
    AgNJADBGAiEAuZ6+R+apZ8EyUOAmOtR2HPq23+lrhlOsr6Q3wh7pd2QCIQDu42fz
    bRkAtCCqLLqFOgaD/i/jpuwVjXszypLO34X2Hw==
    -----END CERTIFICATE-----
    """

  /// The key of `elsewhere` and `expired`.
  static let otherPrivateKey = """
    -----BEGIN PRIVATE KEY-----
    MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgCQY0X9GCLHeJuCwC
    17BM6TGcJ/2U2L1p+9rEICgsB2ShRANCAATWQCl6xhmv/986go6uPB8kMrBfsYd7
    SS2rjlfu+NnC+5uxR7w5fCYb0eVrnc91jMEwBa2LaKyrJ3obSxtvPSko
    -----END PRIVATE KEY-----
    """

  static let identity = TLSIdentity(certificates: Array(certificate.utf8), privateKey: Array(privateKey.utf8))

  /// - Parameter certificate: one of `otherPrivateKey`.
  static func identity(of certificate: String) -> TLSIdentity {
    TLSIdentity(certificates: Array(certificate.utf8), privateKey: Array(otherPrivateKey.utf8))
  }
}

extension TLSContext {
  static func server(_ identity: TLSIdentity) throws -> TLSContext {
    try TLSContext(certificates: identity.certificates, privateKey: identity.privateKey)
  }
}
