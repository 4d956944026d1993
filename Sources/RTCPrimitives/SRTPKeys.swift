/// How SRTP and SRTCP packets are encrypted and authenticated; the raw value is the `use_srtp` code point
/// (RFC 5764 §4.1.2, RFC 7714 §14.2).
public enum SRTPProfile: UInt16, Hashable, Sendable, CaseIterable {
  /// SRTP_AES128_CM_HMAC_SHA1_80: the one every peer has; about 1.4 times the work of GCM.
  case aes128CmSha1_80 = 0x0001
  /// SRTP_AEAD_AES_128_GCM.
  case aeadAes128Gcm = 0x0007

  /// The master key's length in bytes.
  public var keyLength: Int { 16 }

  /// The master salt's length in bytes.
  public var saltLength: Int {
    switch self {
    case .aes128CmSha1_80: 14
    case .aeadAes128Gcm: 12
    }
  }

  /// The bytes that protecting adds to an RTP packet.
  public var rtpOverhead: Int {
    switch self {
    case .aes128CmSha1_80: 10
    case .aeadAes128Gcm: 16
    }
  }

  /// The bytes that encryption adds to an RTCP packet: those of RTP and the SRTCP index.
  public var rtcpOverhead: Int { rtpOverhead + 4 }
}

/// One direction's SRTP master key and salt (RFC 3711 §3.2.1).
public struct SRTPMasterKey: Hashable, Sendable {
  /// `SRTPProfile.keyLength` bytes.
  public var key: [UInt8]
  /// `SRTPProfile.saltLength` bytes.
  public var salt: [UInt8]

  /// Takes both as they are; their lengths must suit the profile they are used with.
  public init(key: [UInt8], salt: [UInt8]) {
    self.key = key
    self.salt = salt
  }
}

/// The result of a DTLS-SRTP handshake: the profile, and the keys of both directions from this side's view.
public struct SRTPKeys: Hashable, Sendable {
  /// The profile that both sides have agreed on.
  public var profile: SRTPProfile
  /// The key for sent packets.
  public var local: SRTPMasterKey
  /// The key for received packets.
  public var remote: SRTPMasterKey

  /// The keys of both directions, for `profile`.
  public init(profile: SRTPProfile, local: SRTPMasterKey, remote: SRTPMasterKey) {
    self.profile = profile
    self.local = local
    self.remote = remote
  }
}

/// Never the key material itself, so that no log can leak it.
extension SRTPKeys: CustomStringConvertible, CustomDebugStringConvertible {
  /// The profile alone.
  public var description: String { "SRTPKeys(\(profile))" }
  /// `description`, which hides the key.
  public var debugDescription: String { description }
}

extension SRTPMasterKey: CustomStringConvertible, CustomDebugStringConvertible {
  /// A fixed text without key material.
  public var description: String { "SRTPMasterKey(hidden)" }
  /// `description`, which hides the keys.
  public var debugDescription: String { description }
}
