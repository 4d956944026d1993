/// The properties of an Opus packet (RFC 6716 §3), parsed without decoding it.
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// | config  |s| c |    then one frame (c 0), two of equal length (1), two (2), or as many as the next byte says (3)
/// +-+-+-+-+-+-+-+-+
/// ```
public struct OpusPacket: Hashable, Sendable {
  /// How the sound is coded.
  public enum Mode: Hashable, Sendable {
    /// Linear prediction: voices at low rates.
    case silk
    /// SILK and CELT, at 10 or 20 ms.
    case hybrid
    /// Transform coding: everything else.
    case celt
  }

  /// The highest number of samples at 48 kHz in a packet: 120 ms (§3.2.5, R5).
  public static let maximumSampleCount = 5_760
  /// The longest frame in bytes (§3.2.1, R2).
  private static let maximumFrameSize = 1_275

  /// How the frames are coded.
  public var mode: Mode
  /// 1 or 2.
  public var channels: Int
  /// 1…48.
  public var frameCount: Int
  /// Samples at 48 kHz in each frame: 120, 240, 480, 960, 1920 or 2880.
  public var samplesPerFrame: Int

  /// Samples at 48 kHz in the packet: 120…5760.
  public var sampleCount: Int { frameCount * samplesPerFrame }

  /// Nil for bytes that break one of the rules R1…R7 of RFC 6716 §3.4: such a packet is of no use to a decoder.
  public init?(parsing packet: Span<UInt8>) {
    guard !packet.isEmpty else { return nil }  // R1
    let config = Int(packet[0] >> 3)
    channels = packet[0] & 4 == 0 ? 1 : 2
    (mode, samplesPerFrame) = Self.coding(config)
    let count: Int?
    switch packet[0] & 3 {
    case 0: count = packet.count - 1 <= Self.maximumFrameSize ? 1 : nil
    case 1: count = packet.count & 1 == 1 && (packet.count - 1) / 2 <= Self.maximumFrameSize ? 2 : nil
    case 2: count = Self.hasTwoFrames(packet) ? 2 : nil
    default: count = Self.frameCount(packet, samplesPerFrame: samplesPerFrame)
    }
    guard let count else { return nil }
    frameCount = count
  }

  /// As `init(parsing:)`, for an array.
  public init?(_ packet: [UInt8]) { self.init(parsing: packet.span) }

  /// False when the packet surely repeats nothing of the one before it (LBRR frames, §4.2.4); most packets say it in their
  /// first frame's first byte.
  ///
  /// - Parameter packet: the bytes this was read from.
  public func mayRepeatPrevious(_ packet: [UInt8]) -> Bool {
    guard mode != .celt, packet.count > 2 else { return false }
    guard packet[0] & 3 == 0 else { return true }
    // One bit for each 20 ms says whether they are voice, the next whether they are repeated; then the second channel's.
    let subframes = max(1, samplesPerFrame / 960)
    return (0..<channels).contains { packet[1] & (0x80 >> UInt8(($0 + 1) * (subframes + 1) - 1)) != 0 }
  }

  /// §3.1, table 2.
  private static func coding(_ config: Int) -> (Mode, Int) {
    switch config {
    case ..<12: (.silk, [480, 960, 1_920, 2_880][config & 3])
    case ..<16: (.hybrid, [480, 960][config & 1])
    default: (.celt, [120, 240, 480, 960][config & 3])
    }
  }

  /// Two frames, the first one's length before it (R4).
  private static func hasTwoFrames(_ packet: Span<UInt8>) -> Bool {
    guard let (first, size) = frameLength(packet, at: 1) else { return false }
    let rest = packet.count - 1 - size - first
    return rest >= 0 && rest <= maximumFrameSize
  }

  /// Any number of frames, perhaps with padding behind them (§3.2.5; R5, R6, R7).
  private static func frameCount(_ packet: Span<UInt8>, samplesPerFrame: Int) -> Int? {
    guard packet.count >= 2 else { return nil }
    let count = Int(packet[1] & 0x3F)
    guard count > 0, count * samplesPerFrame <= maximumSampleCount else { return nil }
    var offset = 2
    var padding = 0
    if packet[1] & 0x40 != 0 {
      var byte: UInt8
      repeat {
        guard offset < packet.count else { return nil }
        byte = packet[offset]
        offset += 1
        padding += byte == 255 ? 254 : Int(byte)
      } while byte == 255
    }
    var room = packet.count - offset - padding
    guard room >= 0 else { return nil }
    guard packet[1] & 0x80 != 0 else {  // all of equal length
      return room % count == 0 && room / count <= maximumFrameSize ? count : nil
    }
    for _ in 1..<count {
      guard let (length, size) = frameLength(packet, at: offset) else { return nil }
      offset += size
      room -= size + length
      guard room >= 0 else { return nil }
    }
    return room <= maximumFrameSize ? count : nil
  }

  /// A frame's length and the one or two bytes it is written in (§3.2.1).
  private static func frameLength(_ packet: Span<UInt8>, at offset: Int) -> (length: Int, size: Int)? {
    guard offset < packet.count else { return nil }
    let first = Int(packet[offset])
    if first < 252 { return (first, 1) }
    guard offset + 1 < packet.count else { return nil }
    return (Int(packet[offset + 1]) * 4 + first, 2)
  }
}
