/// The first byte of an H.264 NAL unit (ITU-T H.264 §7.3.1, RFC 6184 §1.3).
///
/// ```
///  +---------------+
///  |0|1|2|3|4|5|6|7|
///  +-+-+-+-+-+-+-+-+
///  |F|NRI|  Type   |
///  +---------------+
/// ```
public struct H264NALUnitHeader: Hashable, Sendable, BitwiseCopyable {
  /// What a unit holds, as far as anybody here asks (ITU-T H.264 table 7-1, RFC 6184 table 1).
  public struct Kind: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// 0…31.
    public let rawValue: UInt8
    /// Takes the low five bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// A part of a picture that needs no other.
    public static let idrSlice = Kind(rawValue: 5)
    public static let sequenceParameterSet = Kind(rawValue: 7)
    public static let pictureParameterSet = Kind(rawValue: 8)
    public static let accessUnitDelimiter = Kind(rawValue: 9)
    /// STAP-A: several units in one packet.
    public static let aggregation = Kind(rawValue: 24)
    /// FU-A: a part of a unit.
    public static let fragment = Kind(rawValue: 28)

    /// A unit of the codec, not of the payload format (RFC 6184 table 1).
    var isCodecUnit: Bool { (1...23).contains(rawValue) }
  }

  /// nal_ref_idc, 0…3: 0 when nothing refers to the unit.
  public let importance: UInt8
  public let kind: Kind

  /// Takes the low two bits of `importance`.
  public init(importance: UInt8, kind: Kind) {
    self.importance = importance & 3
    self.kind = kind
  }

  /// Nil when the forbidden bit is set.
  public init?(_ byte: UInt8) {
    guard byte & 0x80 == 0 else { return nil }
    self.init(importance: byte >> 5, kind: Kind(rawValue: byte))
  }

  public var byte: UInt8 { importance << 5 | kind.rawValue }
}

/// Finds the NAL units of a frame in the byte stream format (ITU-T H.264 annex B), start codes of either length.
public struct H264ByteStream: Sendable, BitwiseCopyable {
  /// Where the next unit begins, behind its start code; nil when there is none.
  private var next: Int?

  public init(_ data: Span<UInt8>) { next = Self.startCode(in: data, from: 0)?.end }

  /// The next unit that is not empty, without its start code and the zeros behind it; nil after the last. To be called
  /// with the same bytes always.
  public mutating func nextUnit(in data: Span<UInt8>) -> Range<Int>? {
    while let start = next {
      let following = Self.startCode(in: data, from: start)
      next = following?.end
      var end = following?.start ?? data.count
      while end > start, data[end - 1] == 0 { end -= 1 }
      if end > start { return start..<end }
    }
    return nil
  }

  /// The first 00 00 01 from `start` on.
  private static func startCode(in data: Span<UInt8>, from start: Int) -> (start: Int, end: Int)? {
    var index = start + 2
    while index < data.count {
      let byte = data[index]
      if byte > 1 {
        index += 3
      } else if byte == 0 {
        index += 1
      } else if data[index - 1] == 0, data[index - 2] == 0 {
        return (index - 2, index + 1)
      } else {
        index += 3
      }
    }
    return nil
  }
}
