import COpenSSL
package import RTCPrimitives

/// A certificate for HTTPS servers, with its fingerprint for people.
package struct WebCertificate: Sendable, Hashable {
  /// PEM; where a chain was read, the whole chain.
  package let certificate: [UInt8]
  /// PEM, without a passphrase; nil where it was not made here.
  package let privateKey: [UInt8]?
  /// The fingerprint of the first certificate.
  package let fingerprint: CertificateFingerprint
  /// Whether its time is over, or not yet come, at the moment of reading.
  package let isValid: Bool

  /// Days that a certificate made here lasts: the most that every browser takes.
  package static let lifetime = 825

  /// Makes a key (ECDSA P-256) and a self-signed certificate.
  /// - Parameters:
  ///   - names: its host names; invalid ones are left out.
  ///   - addresses: its IP addresses; invalid ones are left out.
  package init(names: [String], addresses: [String]) throws(OpenSSLError) {
    guard let key = unsafe copenssl_generate_p256_key() else { throw .take() }
    defer { unsafe EVP_PKEY_free(key) }
    guard let certificate = unsafe X509_new() else { throw .take() }
    defer { unsafe X509_free(certificate) }
    let hosts =
      names.filter { $0.utf8.allSatisfy(Self.isNameByte) && !$0.isEmpty }.map { "DNS:\($0)" }
      + addresses.filter { $0.utf8.allSatisfy(Self.isAddressByte) && !$0.isEmpty }.map { "IP:\($0)" }
    guard unsafe Self.fill(certificate, hosts: hosts), unsafe X509_set_pubkey(certificate, key) == 1,
      unsafe X509_sign(certificate, key, EVP_sha256()) > 0,
      let fingerprint = unsafe CertificateFingerprint(certificate: certificate)
    else { throw .take() }
    self.fingerprint = fingerprint
    self.certificate = try unsafe Self.written { unsafe PEM_write_bio_X509($0, certificate) }
    privateKey = try unsafe Self.written { unsafe PEM_write_bio_PrivateKey($0, key, nil, nil, 0, nil, nil) }
    isValid = true
  }

  /// Reads the first certificate of a PEM text.
  package init(parsing pem: [UInt8]) throws(OpenSSLError) {
    guard let source = unsafe BIO_new(BIO_s_mem()) else { throw .take() }
    defer { unsafe BIO_free(source) }
    guard unsafe BIO_write(source, pem, CInt(clamping: pem.count)) == pem.count,
      let certificate = unsafe PEM_read_bio_X509(source, nil, nil, nil)
    else { throw .take() }
    defer { unsafe X509_free(certificate) }
    guard let fingerprint = unsafe CertificateFingerprint(certificate: certificate) else { throw .take() }
    self.fingerprint = fingerprint
    self.certificate = pem
    privateKey = nil
    isValid =
      unsafe X509_cmp_current_time(X509_get0_notBefore(certificate)) < 0
      && X509_cmp_current_time(X509_get0_notAfter(certificate)) > 0
  }

  /// The fingerprint of a certificate in DER, as in a TLS handshake. Nil if it is not a certificate.
  package static func fingerprint(der: [UInt8]) -> CertificateFingerprint? {
    var digest = [UInt8](repeating: 0, count: 32)
    var count: UInt32 = 0
    guard unsafe EVP_Digest(der, der.count, &digest, &count, EVP_sha256(), nil) == 1 else { return nil }
    return CertificateFingerprint(sha256: digest)
  }

  // MARK: - The parts

  /// Everything but key and signature. False when OpenSSL refuses.
  private static func fill(_ certificate: OpaquePointer, hosts: [String]) -> Bool {
    var random = [UInt8](repeating: 0, count: 8)
    guard unsafe RAND_bytes(&random, 8) == 1 else { return false }
    let serial = random.reduce(0) { $0 << 8 | UInt64($1) } >> 1 | 1
    let day = 24 * 60 * 60
    let subject = unsafe X509_get_subject_name(certificate)
    return unsafe X509_set_version(certificate, 2) == 1  // counted from 0: X.509 version 3
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
      && X509_gmtime_adj(X509_getm_notBefore(certificate), -day) != nil
      && X509_gmtime_adj(X509_getm_notAfter(certificate), (Self.lifetime - 1) * day) != nil
      && X509_NAME_add_entry_by_txt(subject, "CN", 0x1001, "rtcast", -1, -1, 0) == 1  // 0x1001: MBSTRING_ASC
      && X509_set_issuer_name(certificate, subject) == 1
      && add(NID_basic_constraints, "critical,CA:FALSE", to: certificate)
      && add(NID_ext_key_usage, "serverAuth", to: certificate)
      && (hosts.isEmpty || add(NID_subject_alt_name, hosts.joined(separator: ","), to: certificate))
  }

  private static func add(_ kind: CInt, _ value: String, to certificate: OpaquePointer) -> Bool {
    guard let part = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
    defer { unsafe X509_EXTENSION_free(part) }
    return unsafe X509_add_ext(certificate, part, -1) == 1
  }

  /// The bytes that `write` puts into a memory BIO. The pointer is valid during the call only.
  private static func written(_ write: (OpaquePointer) -> CInt) throws(OpenSSLError) -> [UInt8] {
    guard let sink = unsafe BIO_new(BIO_s_mem()) else { throw .take() }
    defer { unsafe BIO_free(sink) }
    guard unsafe write(sink) == 1 else { throw .take() }
    var bytes = [UInt8](repeating: 0, count: unsafe BIO_ctrl_pending(sink))
    guard unsafe BIO_read(sink, &bytes, CInt(bytes.count)) == bytes.count else { throw .take() }
    return bytes
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 46
  }

  private static func isAddressByte(_ byte: UInt8) -> Bool {
    (48...58).contains(byte) || (65...70).contains(byte) || (97...102).contains(byte) || byte == 46
  }
}
