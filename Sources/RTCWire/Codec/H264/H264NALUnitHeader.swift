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
  /// The type of a unit, as far as it is used here (ITU-T H.264 table 7-1, RFC 6184 table 1).
  public struct Kind: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// 0…31.
    public let rawValue: UInt8
    /// Takes the low five bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x1F }

    /// A part of a picture that needs others.
    public static let slice = Kind(rawValue: 1)
    /// Slice data partition A.
    public static let partitionA = Kind(rawValue: 2)
    /// A part of a picture that needs no other.
    public static let idrSlice = Kind(rawValue: 5)
    /// A sequence parameter set (SPS).
    public static let sequenceParameterSet = Kind(rawValue: 7)
    /// A picture parameter set (PPS).
    public static let pictureParameterSet = Kind(rawValue: 8)
    /// The beginning of an access unit.
    public static let accessUnitDelimiter = Kind(rawValue: 9)
    /// The end of a coded video sequence.
    public static let endOfSequence = Kind(rawValue: 10)
    /// The end of the stream.
    public static let endOfStream = Kind(rawValue: 11)
    /// Filler data, which decoders ignore.
    public static let filler = Kind(rawValue: 12)
    /// STAP-A: several units in one packet.
    public static let aggregation = Kind(rawValue: 24)
    /// FU-A: a part of a unit.
    public static let fragment = Kind(rawValue: 28)

    /// A unit of the codec, not of the payload format (RFC 6184 table 1).
    package var isCodecUnit: Bool { (1...23).contains(rawValue) }
    package var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }
  }

  /// 0…3: 0 when nothing refers to the unit.
  public let nalRefIDC: UInt8
  /// The type of the unit.
  public let kind: Kind

  /// Takes the low two bits of `nalRefIDC`.
  public init(nalRefIDC: UInt8, kind: Kind) {
    self.nalRefIDC = nalRefIDC & 3
    self.kind = kind
  }

  /// Nil when the forbidden bit is set.
  public init?(_ byte: UInt8) {
    guard byte & 0x80 == 0 else { return nil }
    self.init(nalRefIDC: byte >> 5, kind: Kind(rawValue: byte))
  }

  /// The header as it is on the wire, with the forbidden bit 0.
  public var byte: UInt8 { nalRefIDC << 5 | kind.rawValue }
}

/// Finds the NAL units of a frame in the byte stream format (ITU-T H.264 annex B), start codes of either length.
public struct H264ByteStream: Sendable, BitwiseCopyable {
  /// The start of the next unit, behind its start code; nil without one.
  private var next: Int?

  /// Stands before the first unit of `data`; what precedes the first start code is passed over.
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

  /// The range of each unit in `data`; nil if other bytes than zeros precede the first start code.
  package static func units(in data: Span<UInt8>) -> [Range<Int>]? {
    guard let first = startCode(in: data, from: 0) else { return data.isEmpty ? [] : nil }
    for index in 0..<first.start where data[index] != 0 { return nil }
    var stream = H264ByteStream(data)
    var units: [Range<Int>] = []
    while let unit = stream.nextUnit(in: data) { units.append(unit) }
    return units
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

extension H264NALUnitHeader {
  /// The bytes behind the header of `unit`, without emulation prevention bytes (RBSP, ITU-T H.264 §7.4.1); at most
  /// `limit` bytes.
  package static func payload(of unit: Span<UInt8>, limit: Int) -> [UInt8] {
    var payload: [UInt8] = []
    payload.reserveCapacity(min(unit.count, limit))
    var zeros = 0
    var index = 1
    while index < unit.count, payload.count < limit {
      let byte = unit[index]
      index += 1
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      payload.append(byte)
    }
    return payload
  }
}
