public import RTCPrimitives

/// Several small NAL units in one packet: STAP-A (RFC 6184 §5.7.1).
///
/// ```
///  +---------------+---------------+---------------+----------
///  |F|NRI| Type=24 |        size of unit 1         | unit 1 …
///  +---------------+---------------+---------------+----------
/// ```
public struct H264AggregationPacket: Sendable, BitwiseCopyable {
  private var offset = 1
  private let end: Int

  /// Nil unless the payload is one STAP-A of at least one unit, and the units fill it exactly.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count > 1, let header = H264NALUnitHeader(payload[0]), header.kind == .aggregation else { return nil }
    end = payload.count
    var units = self
    while units.offset < end { if units.next(in: payload) == nil { return nil } }
  }

  /// The next unit's place in the payload, nil after the last.
  public mutating func next(in payload: Span<UInt8>) -> Range<Int>? {
    guard end - offset > 2 else { return nil }
    let size = Int(payload[offset]) << 8 | Int(payload[offset + 1])
    let start = offset + 2
    guard size > 0, size <= end - start, let header = H264NALUnitHeader(payload[start]), header.kind.isCodecUnit
    else { return nil }
    offset = start + size
    return start..<offset
  }

  /// Writes one packet of `units`, each at most 65,535 bytes and not empty.
  @_lifetime(writer: copy writer)
  public static func write(_ units: [[UInt8]], into writer: inout ByteWriter) {
    let highest = units.lazy.map { $0[0] >> 5 & 3 }.max() ?? 0
    writer.write(H264NALUnitHeader(nalRefIDC: highest, kind: .aggregation).byte)
    for unit in units {
      writer.write(UInt16(unit.count))
      writer.write(unit.span)
    }
  }
}
