/// The header of an Opus stream in a file (RFC 7845 §5.1).
public struct OpusHeader: Hashable, Sendable {
  /// The number of output channels; 1 or 2 with mapping family 0.
  public var channels: Int
  /// Samples at 48 kHz to be dropped at the beginning.
  public var preSkip: Int
  /// 0 = one stream, mono or stereo: the only one that RTP takes (RFC 7587).
  public var mappingFamily: Int

  /// A header of mapping family 0; `preSkip` is in samples at 48 kHz, 0…65,535.
  public init(channels: Int = 2, preSkip: Int = 0) {
    self.channels = channels
    self.preSkip = preSkip
    mappingFamily = 0
  }

  /// Nil when this is no Opus header.
  public init?(parsing header: Span<UInt8>) {
    guard header.count >= 19 else { return nil }
    for (index, byte) in Self.magic.enumerated() where header[index] != byte { return nil }
    channels = Int(header[9])
    preSkip = Int(header[10]) | Int(header[11]) << 8
    mappingFamily = Int(header[18])
  }

  /// For a stream that was sampled at 48 kHz.
  public var bytes: [UInt8] {
    Self.magic + [1, UInt8(clamping: channels), UInt8(truncatingIfNeeded: preSkip), UInt8(clamping: preSkip >> 8)]
      + [0x80, 0xBB, 0, 0, 0, 0, UInt8(clamping: mappingFamily)]
  }

  private static let magic = Array("OpusHead".utf8)
}
