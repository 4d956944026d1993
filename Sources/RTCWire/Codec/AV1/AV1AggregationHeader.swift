import RTCPrimitives

/// The first byte of an RTP payload of AV1 (AV1 RTP payload format §4.4), before the OBU elements.
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// |Z|Y| W |N|-|-|-|
/// +-+-+-+-+-+-+-+-+
/// ```
public struct AV1AggregationHeader: Hashable, Sendable, BitwiseCopyable {
  /// The length on the wire in bytes.
  public static let size = 1

  /// Z: the first element continues one of the packet before.
  public var continuesUnit: Bool
  /// Y: the last element continues in the next packet.
  public var isContinued: Bool
  /// W: the number of elements, of which the last has no length; nil: any number, and all have one.
  public var elements: UInt8?
  /// N: the first packet of a coded video sequence, which begins with a key frame.
  public var startsSequence: Bool

  /// - Parameter elements: 1…3 or nil.
  public init(continuesUnit: Bool, isContinued: Bool, elements: UInt8?, startsSequence: Bool) {
    self.continuesUnit = continuesUnit
    self.isContinued = isContinued
    self.elements = elements.flatMap { $0 & 3 == 0 ? nil : $0 & 3 }
    self.startsSequence = startsSequence
  }

  /// Nil for a sequence that would start within a unit.
  public init?(_ byte: UInt8) {
    self.init(
      continuesUnit: byte & 0x80 != 0, isContinued: byte & 0x40 != 0, elements: byte >> 4 & 3,
      startsSequence: byte & 0x08 != 0)
    if continuesUnit, startsSequence { return nil }
  }

  /// The header as it is on the wire; the reserved bits are 0.
  public var byte: UInt8 {
    (continuesUnit ? 0x80 : 0) | (isContinued ? 0x40 : 0) | (elements ?? 0) << 4 | (startsSequence ? 0x08 : 0)
  }
}

/// The OBU elements of one RTP payload: whole units, or parts of one at either end.
public struct AV1Payload: Sendable, BitwiseCopyable {
  /// The header that the payload begins with.
  public let header: AV1AggregationHeader
  /// Number of elements, at least 1.
  public private(set) var count = 0
  private var offset = AV1AggregationHeader.size
  private var index = 0

  /// Nil when lengths and payload contradict each other.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count > AV1AggregationHeader.size, let header = AV1AggregationHeader(payload[0]) else { return nil }
    self.header = header
    var elements = self
    while elements.offset < payload.count {
      if elements.next(in: payload) == nil { return nil }
      count += 1
    }
    if let said = header.elements, Int(said) != count { return nil }
  }

  /// The next element's place in the payload, nil after the last.
  public mutating func next(in payload: Span<UInt8>) -> Range<Int>? {
    guard offset < payload.count else { return nil }
    index += 1
    var reader = ByteReader(payload.extracting(offset..<payload.count))
    if let elements = header.elements, index == Int(elements) {
      defer { offset = payload.count }
      return offset..<payload.count
    }
    guard let size = reader.readLEB128(), Int(size) <= reader.remaining else { return nil }
    let start = offset + reader.offset
    offset = start + Int(size)
    return start..<offset
  }
}
