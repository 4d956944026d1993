package import RTCPrimitives

/// The keys of one direction: keys and salts derived from a master key (RFC 3711 §4.3, without a derivation rate).
package struct SRTPSessionKeys: Equatable {
  /// The keys of SRTP or of SRTCP.
  package struct Stream: Equatable {
    /// 16 bytes.
    package var encryption: [UInt8]
    /// 20 bytes; empty where encryption authenticates too.
    package var authentication: [UInt8]
    /// `SRTPProfile.saltLength` bytes.
    package var salt: [UInt8]

    package init(encryption: [UInt8], authentication: [UInt8] = [], salt: [UInt8]) {
      self.encryption = encryption
      self.authentication = authentication
      self.salt = salt
    }

    /// The salt's bytes from the most significant one on, zeros after them.
    var leadingSalt: UInt128 { SRTPSessionKeys.leading(salt) }
  }

  package var rtp: Stream
  package var rtcp: Stream

  package init(rtp: Stream, rtcp: Stream) {
    self.rtp = rtp
    self.rtcp = rtcp
  }

  /// Derives them from `master`, by AES in counter mode for all profiles (RFC 7714 §11).
  package init(_ master: SRTPMasterKey, _ profile: SRTPProfile) throws(SRTPError) {
    precondition(
      master.key.count == profile.keyLength && master.salt.count == profile.saltLength,
      "SRTPSessionKeys: the key or the salt has not the profile's length")
    let cipher = try AES128(.counterMode, key: master.key)
    let salt = Self.leading(master.salt)
    func derive(_ label: UInt8, _ count: Int) throws(SRTPError) -> [UInt8] {
      var bytes = [UInt8](repeating: 0, count: count)
      var span = bytes.mutableSpan
      try cipher.start(iv: salt ^ UInt128(label) << 64)
      try cipher.apply(to: &span, 0..<count)
      return bytes
    }
    func stream(firstLabel label: UInt8) throws(SRTPError) -> Stream {
      Stream(
        encryption: try derive(label, profile.keyLength),
        authentication: profile == .aes128CmSha1_80 ? try derive(label + 1, 20) : [],
        salt: try derive(label + 2, profile.saltLength))
    }
    rtp = try stream(firstLabel: 0)
    rtcp = try stream(firstLabel: 3)
  }

  private static func leading(_ salt: [UInt8]) -> UInt128 {
    precondition(salt.count <= 14, "SRTPSessionKeys: a salt of \(salt.count) bytes")
    return salt.reduce(0) { $0 << 8 | UInt128($1) } << (8 * (16 - salt.count))
  }
}

/// Never the key material itself, so that no log can leak it.
extension SRTPSessionKeys: CustomStringConvertible, CustomDebugStringConvertible {
  package var description: String { "SRTPSessionKeys(hidden)" }
  package var debugDescription: String { description }
}

extension SRTPSessionKeys.Stream: CustomStringConvertible, CustomDebugStringConvertible {
  package var description: String { "SRTPSessionKeys.Stream(hidden)" }
  package var debugDescription: String { description }
}
