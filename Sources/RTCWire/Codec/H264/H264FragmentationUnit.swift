public import RTCPrimitives

/// The two bytes before each part of a large NAL unit: FU-A (RFC 6184 §5.8).
///
/// ```
///  FU indicator      FU header
///  +---------------+ +---------------+
///  |0|1|2|3|4|5|6|7| |0|1|2|3|4|5|6|7|
///  +-+-+-+-+-+-+-+-+ +-+-+-+-+-+-+-+-+
///  |F|NRI| Type=28 | |S|E|R|  Type   |
///  +---------------+ +---------------+
/// ```
public struct H264FragmentationUnit: Hashable, Sendable, BitwiseCopyable {
  /// The length of both bytes together.
  public static let size = 2

  /// The first byte of the unit, which the parts themselves do not carry.
  public let unit: H264NALUnitHeader
  /// S.
  public let startsUnit: Bool
  /// E.
  public let endsUnit: Bool

  /// The bytes before a part of the NAL unit `unit`; a part must not be both the first and the last.
  public init(unit: H264NALUnitHeader, startsUnit: Bool, endsUnit: Bool) {
    self.unit = unit
    self.startsUnit = startsUnit
    self.endsUnit = endsUnit
  }

  /// Nil unless there are two bytes of an FU-A of a unit of the codec, not start and end at once. The reader is left at
  /// the unit's bytes.
  @_lifetime(reader: copy reader)
  public init?(parsing reader: inout ByteReader) {
    guard reader.remaining >= Self.size, let first = reader.readUInt8(), let second = reader.readUInt8(),
      let indicator = H264NALUnitHeader(first), indicator.kind == .fragment
    else { return nil }
    unit = H264NALUnitHeader(nalRefIDC: indicator.nalRefIDC, kind: H264NALUnitHeader.Kind(rawValue: second))
    startsUnit = second & 0x80 != 0
    endsUnit = second & 0x40 != 0
    guard unit.kind.isCodecUnit, !(startsUnit && endsUnit) else { return nil }
  }

  /// Writes the FU indicator and the FU header, two bytes, with F and R 0.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(H264NALUnitHeader(nalRefIDC: unit.nalRefIDC, kind: .fragment).byte)
    writer.write((startsUnit ? 0x80 : 0) | (endsUnit ? 0x40 : 0) | unit.kind.rawValue as UInt8)
  }
}
