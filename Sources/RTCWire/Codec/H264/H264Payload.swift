import RTCPrimitives

/// The position of one RTP payload in a stream of H.264 (RFC 6184 §5.2), in packetization mode 1: one unit, several
/// (STAP-A), or a part of one (FU-A).
public struct H264Payload: Hashable, Sendable, BitwiseCopyable {
  /// False within a unit that an earlier packet began.
  public let startsUnit: Bool
  /// Whether it has a sequence parameter set, with which an independent picture begins.
  public let hasParameterSet: Bool
  /// Whether it has (a part of) an independent picture.
  public let isIDR: Bool
  private let shape: Shape

  private enum Shape: Hashable, Sendable, BitwiseCopyable {
    case unit, aggregation
    case fragment(H264FragmentationUnit)
  }

  private static let startCode: [UInt8] = [0, 0, 0, 1]

  /// Nil for payloads that break a rule, or of a kind that packetization mode 1 does not have.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count > 0, let header = H264NALUnitHeader(payload[0]) else { return nil }
    switch header.kind {
    case .fragment:
      var reader = ByteReader(payload)
      guard let fragment = H264FragmentationUnit(parsing: &reader), !reader.isAtEnd else { return nil }
      shape = .fragment(fragment)
      startsUnit = fragment.startsUnit
      hasParameterSet = fragment.startsUnit && fragment.unit.kind == .sequenceParameterSet
      isIDR = fragment.unit.kind == .idrSlice
    case .aggregation:
      guard var units = H264AggregationPacket(parsing: payload) else { return nil }
      shape = .aggregation
      startsUnit = true
      var (found, intra) = (false, false)
      while let unit = units.next(in: payload) {
        let kind = H264NALUnitHeader.Kind(rawValue: payload[unit.lowerBound])
        found = found || kind == .sequenceParameterSet
        intra = intra || kind == .idrSlice
      }
      (hasParameterSet, isIDR) = (found, intra)
    case let kind where kind.isCodecUnit:
      shape = .unit
      startsUnit = true
      hasParameterSet = kind == .sequenceParameterSet
      isIDR = kind == .idrSlice
    default: return nil
    }
  }

  /// Appends what `payload`, from which this was read, brings to the frame in the byte stream format (annex B).
  public func append(_ payload: Span<UInt8>, to frame: inout [UInt8]) {
    switch shape {
    case .unit:
      frame += Self.startCode
      frame.append(payload)
    case .aggregation:
      guard var units = H264AggregationPacket(parsing: payload) else { return }
      while let unit = units.next(in: payload) {
        frame += Self.startCode
        frame.append(payload.extracting(unit))
      }
    case .fragment(let fragment):
      if fragment.startsUnit {
        frame += Self.startCode
        frame.append(fragment.unit.byte)
      }
      frame.append(payload.extracting(H264FragmentationUnit.size..<payload.count))
    }
  }
}
