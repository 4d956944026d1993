/// The type of a NAL unit (ITU-T H.264 table 7-1).
struct H264NALType: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
  let rawValue: UInt8
  init(rawValue: UInt8) { self.rawValue = rawValue }
  /// From the first byte of a NAL unit.
  init(header: UInt8) { rawValue = header & 0x1F }

  static let slice = H264NALType(rawValue: 1)
  static let partitionA = H264NALType(rawValue: 2)
  static let idrSlice = H264NALType(rawValue: 5)
  static let supplement = H264NALType(rawValue: 6)
  static let sequenceParameterSet = H264NALType(rawValue: 7)
  static let pictureParameterSet = H264NALType(rawValue: 8)
  static let accessUnitDelimiter = H264NALType(rawValue: 9)
  static let endOfSequence = H264NALType(rawValue: 10)
  static let endOfStream = H264NALType(rawValue: 11)
  static let filler = H264NALType(rawValue: 12)

  var isParameterSet: Bool { self == .sequenceParameterSet || self == .pictureParameterSet }

  /// A viewer needs none of these: RTP says where a picture ends, and padding is padding. Types 0 and 24…31 are not
  /// H.264's own, and mean aggregation in RTP (RFC 6184 §5.2), so they must not get there.
  var isNeedless: Bool {
    switch self {
    case .accessUnitDelimiter, .endOfSequence, .endOfStream, .filler: true
    default: rawValue == 0 || rawValue >= 24
    }
  }
}

/// How NAL units are told apart in a file.
public enum H264Framing: Hashable, Sendable {
  /// By start codes (ITU-T H.264 annex B).
  case startCodes
  /// By their length before each, in `size` bytes, 1…4 (ISO/IEC 14496-15 §5.3.2).
  case lengths(size: Int)

  /// Where each NAL unit lies, without its start code or length; empty ones are left out. Nil when a length points past
  /// the end, or when nothing begins with a start code.
  func units(in packet: Span<UInt8>) -> [Range<Int>]? {
    switch self {
    case .startCodes: Self.unitsByStartCode(packet)
    case .lengths(let size): Self.unitsByLength(packet, size)
    }
  }

  private static func unitsByLength(_ packet: Span<UInt8>, _ size: Int) -> [Range<Int>]? {
    var units: [Range<Int>] = []
    var offset = 0
    while offset < packet.count {
      guard packet.count - offset >= size else { return nil }
      var length = 0
      for index in offset..<offset + size { length = length << 8 | Int(packet[index]) }
      offset += size
      guard length <= packet.count - offset else { return nil }
      if length > 0 { units.append(offset..<offset + length) }
      offset += length
    }
    return units
  }

  private static func unitsByStartCode(_ packet: Span<UInt8>) -> [Range<Int>]? {
    var units: [Range<Int>] = []
    var start: Int?
    var zeros = 0
    for index in packet.indices {
      let byte = packet[index]
      if byte == 0 {
        zeros += 1
        continue
      }
      if byte == 1, zeros >= 2 {
        // Zeros before a start code belong to no unit: a unit never ends in one (§7.4.1).
        if let start, index - zeros > start { units.append(start..<index - zeros) }
        start = index + 1
      } else if start == nil {
        return nil
      }
      zeros = 0
    }
    guard let start else { return packet.isEmpty ? [] : nil }
    if packet.count - zeros > start { units.append(start..<packet.count - zeros) }
    return units
  }
}

/// The payload of a NAL unit, after its header byte, without the bytes that keep start codes from arising
/// (ITU-T H.264 §7.4.1); at most `limit` bytes of it.
func h264Payload(of unit: Span<UInt8>, limit: Int) -> [UInt8] {
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
