public import RTCPrimitives

/// The header of an open bitstream unit, the piece AV1 streams are made of (AV1 specification §5.3.2).
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// |F| type  |X|S|R|
/// +-+-+-+-+-+-+-+-+
/// | TID |SID|  R  |  if X
/// +-+-+-+-+-+-+-+-+
/// ```
public struct AV1OBUHeader: Hashable, Sendable, BitwiseCopyable {
  /// The type of a unit (AV1 specification §6.2.2).
  public struct Kind: RawRepresentable, Hashable, Sendable, BitwiseCopyable {
    /// 0…15.
    public let rawValue: UInt8
    /// Takes the low four bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

    /// Parameters of a whole coded video sequence.
    public static let sequenceHeader = Kind(rawValue: 1)
    /// The beginning of a temporal unit; does not travel in RTP.
    public static let temporalDelimiter = Kind(rawValue: 2)
    /// The header of a frame, without its tiles.
    public static let frameHeader = Kind(rawValue: 3)
    /// The header of a frame and a group of its tiles.
    public static let frame = Kind(rawValue: 6)
    /// Tiles for large-scale tile decoding; does not travel in RTP.
    public static let tileList = Kind(rawValue: 8)

    /// Whether units of the type are not sent in RTP (AV1 RTP payload format §5).
    var isLeftOut: Bool { self == .temporalDelimiter || self == .tileList }
  }

  /// The type of the unit.
  public let kind: Kind
  /// S: a size follows.
  public var hasSize: Bool
  /// The second byte, of streams in layers.
  public let layers: UInt8?

  /// A header of 1 byte, or of 2 when `layers` is given.
  public init(kind: Kind, hasSize: Bool = false, layers: UInt8? = nil) {
    self.kind = kind
    self.hasSize = hasSize
    self.layers = layers
  }

  /// Nil when the bytes end within, or the forbidden bit is set.
  @_lifetime(reader: copy reader)
  public init?(parsing reader: inout ByteReader) {
    guard let first = reader.readUInt8(), first & 0x80 == 0 else { return nil }
    kind = Kind(rawValue: first >> 3)
    hasSize = first & 2 != 0
    guard first & 4 != 0 else {
      layers = nil
      return
    }
    guard let second = reader.readUInt8() else { return nil }
    layers = second
  }

  /// 1 or 2 bytes.
  public var size: Int { layers == nil ? 1 : 2 }

  /// Writes the header, `size` bytes; the size that `hasSize` promises is the caller's to write.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(kind.rawValue << 3 | (layers == nil ? 0 : 4) | (hasSize ? 2 : 0) as UInt8)
    if let layers { writer.write(layers) }
  }
}

/// One unit in a stream of units (AV1 specification §5.2, "low-overhead bitstream format"); only the last may have no
/// size.
public struct AV1OBU: Hashable, Sendable {
  /// The unit's header as it stands in the data.
  public let header: AV1OBUHeader
  /// Without header and size.
  public let payload: Range<Int>

  /// The unit at `offset` of `data`; nil when there is none that is whole.
  public init?(in data: Span<UInt8>, at offset: Int) {
    guard offset < data.count else { return nil }
    var reader = ByteReader(data.extracting(offset..<data.count))
    guard let header = AV1OBUHeader(parsing: &reader) else { return nil }
    self.header = header
    if header.hasSize {
      guard let size = reader.readLEB128(), reader.remaining >= Int(size) else { return nil }
      payload = offset + reader.offset..<offset + reader.offset + Int(size)
    } else {
      payload = offset + reader.offset..<data.count
    }
  }

  /// The range of each unit in `data`; nil if one is malformed.
  package static func units(in data: Span<UInt8>) -> [AV1OBU]? {
    var units: [AV1OBU] = []
    var offset = 0
    while offset < data.count {
      guard let unit = AV1OBU(in: data, at: offset) else { return nil }
      units.append(unit)
      offset = unit.payload.upperBound
    }
    return units
  }

  /// The unit's header with its size behind it.
  package var sizedHeader: PayloadPrefix {
    var header = header
    header.hasSize = true
    return PayloadPrefix {
      header.write(into: &$0)
      $0.writeLEB128(UInt32(payload.count))
    }
  }

  /// The first unit from `offset` on that travels in RTP.
  static func sendable(in data: Span<UInt8>, from offset: Int) -> AV1OBU? {
    var next = offset
    while let unit = AV1OBU(in: data, at: next) {
      if !unit.header.kind.isLeftOut { return unit }
      next = unit.payload.upperBound
    }
    return nil
  }
}
