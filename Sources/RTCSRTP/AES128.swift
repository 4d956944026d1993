import COpenSSL

/// AES-128 by OpenSSL in one of three uses. The key schedule is made once; a packet brings its initialization vector (IV)
/// alone, which allocates nothing.
@safe struct AES128: ~Copyable {
  enum Use {
    /// Counter mode, the same both ways (RFC 3711 §4.1.1). The IV has 16 bytes, the first counter block.
    case counterMode
    /// Galois/counter mode (RFC 7714), to encrypt and authenticate. The IV has 12 bytes.
    case sealing
    /// To verify and decrypt.
    case opening
  }

  /// The length of the tag that authenticates, in bytes.
  static let tagSize = 16

  /// Live from `init` to `deinit`, for exclusive use: it is never passed out, and the struct cannot be copied.
  private let context: OpaquePointer

  /// - Parameter key: 16 bytes.
  init(_ use: Use, key: [UInt8]) throws(SRTPError) {
    precondition(key.count == 16, "AES128: a key of \(key.count) bytes")
    guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .openSSL() }
    let algorithm = unsafe use == .counterMode ? EVP_aes_128_ctr() : EVP_aes_128_gcm()
    guard unsafe EVP_CipherInit_ex2(context, algorithm, key, nil, use == .opening ? 0 : 1, nil) == 1 else {
      unsafe EVP_CIPHER_CTX_free(context)
      throw .openSSL()
    }
    unsafe self.context = context
  }

  deinit { unsafe EVP_CIPHER_CTX_free(context) }

  /// Begins a packet.
  /// - Parameter iv: its bytes in network order, from the most significant one on.
  func start(iv: UInt128) throws(SRTPError) {
    // OpenSSL reads 12 or 16 bytes, of the 16 that are there.
    let started = unsafe withUnsafeBytes(of: iv.bigEndian) { bytes in
      unsafe EVP_CipherInit_ex2(
        context, nil, nil, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), -1, nil)
    }
    guard started == 1 else { throw .openSSL() }
  }

  /// Adds bytes that are authenticated but not encrypted. Only before any `apply`.
  func authenticate(_ bytes: Span<UInt8>) throws(SRTPError) {
    var taken: CInt = 0
    // OpenSSL reads the span's bytes and keeps no pointer to them.
    let done = unsafe bytes.withUnsafeBufferPointer { bytes in
      unsafe EVP_CipherUpdate(context, nil, &taken, bytes.baseAddress, CInt(bytes.count))
    }
    guard done == 1 else { throw .openSSL() }
  }

  /// Encrypts or decrypts the bytes of `range` in place.
  @_lifetime(packet: copy packet)
  func apply(to packet: inout MutableSpan<UInt8>, _ range: Range<Int>) throws(SRTPError) {
    precondition(range.lowerBound >= 0 && range.upperBound <= packet.count, "AES128: \(range) is not in the packet")
    guard !range.isEmpty else { return }
    var written: CInt = 0
    // Both modes write as many bytes as they read, in place; the range was checked against the span.
    let done = unsafe packet.withUnsafeMutableBufferPointer { bytes in
      let start = unsafe bytes.baseAddress! + range.lowerBound
      return unsafe EVP_CipherUpdate(context, start, &written, start, CInt(range.count))
    }
    guard done == 1, Int(written) == range.count else { throw .openSSL() }
  }

  /// Ends a packet that was sealed, and writes its tag of `tagSize` bytes at `offset`.
  @_lifetime(packet: copy packet)
  func writeTag(to packet: inout MutableSpan<UInt8>, at offset: Int) throws(SRTPError) {
    precondition(offset >= 0 && offset + Self.tagSize <= packet.count, "AES128: no room for the tag")
    guard finish() else { throw .openSSL() }
    // OpenSSL writes `tagSize` bytes, for which there is room.
    let done = unsafe packet.withUnsafeMutableBufferPointer { bytes in
      unsafe EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_GET_TAG, CInt(Self.tagSize), bytes.baseAddress! + offset)
    }
    guard done == 1 else { throw .openSSL() }
  }

  /// Ends the decryption of a packet.
  /// - Throws: `authenticationFailed` if the tag at `offset` is not the packet's.
  @_lifetime(packet: copy packet)
  func checkTag(of packet: inout MutableSpan<UInt8>, at offset: Int) throws(SRTPError) {
    precondition(offset >= 0 && offset + Self.tagSize <= packet.count, "AES128: the tag is not in the packet")
    // OpenSSL copies `tagSize` bytes, which are there; its interface has no word for that it only reads.
    let done = unsafe packet.withUnsafeMutableBufferPointer { bytes in
      unsafe EVP_CIPHER_CTX_ctrl(
        context, EVP_CTRL_AEAD_SET_TAG, CInt(Self.tagSize), bytes.baseAddress! + offset)
    }
    guard done == 1 else { throw .openSSL() }
    guard finish() else {
      ERR_clear_error()  // the next reader of the thread's error queue must not see this error
      throw .authenticationFailed
    }
  }

  /// False when the tag is wrong.
  private func finish() -> Bool {
    var none: (UInt64, UInt64) = (0, 0)
    var count: CInt = 0
    // Stream modes have nothing left to write; there would be room for a block.
    return unsafe withUnsafeMutableBytes(of: &none) { bytes in
      unsafe EVP_CipherFinal_ex(context, bytes.baseAddress!.assumingMemoryBound(to: UInt8.self), &count)
    } == 1
  }
}
