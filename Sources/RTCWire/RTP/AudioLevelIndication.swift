public import RTCPrimitives

/// How loud the audio of a packet is: the client-to-mixer audio level header extension (RFC 6464 §3).
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// |V|    level    |
/// +-+-+-+-+-+-+-+-+
/// ```
public struct AudioLevelIndication: Hashable, Sendable, BitwiseCopyable {
  /// The length of the element's data in bytes, as it is written.
  public static let size = 1

  /// How loud the packet's audio is.
  public let level: AudioLevel
  /// V: the packet is believed to hold speech.
  public let hasVoice: Bool

  /// The indication of this level, with the V bit as `hasVoice` says.
  public init(level: AudioLevel, hasVoice: Bool) {
    self.level = level
    self.hasVoice = hasVoice
  }

  /// The data of a header extension element. Two bytes are accepted, since the two-byte form may be padded (§3).
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size || data.count == Self.size + 1 else { return nil }
    self.init(level: AudioLevel(attenuation: data[0] & 0x7F), hasVoice: data[0] & 0x80 != 0)
  }

  /// Writes the element's data, one byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write((hasVoice ? 0x80 : 0) | level.attenuation) }
}
