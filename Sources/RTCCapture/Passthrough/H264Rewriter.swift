internal import RTCPrimitives
package import RTCWire

/// The framing of NAL units in a file.
package enum H264Framing: Hashable, Sendable {
  /// By start codes (ITU-T H.264 annex B).
  case startCodes
  /// By their length before each, in `size` bytes, 1…4 (ISO/IEC 14496-15 §5.3.2).
  case lengths(size: Int)

  /// The range of each NAL unit, without its start code or length; empty ones are left out. Nil if a length points past
  /// the end, or if there is no start code.
  func units(in packet: Span<UInt8>) -> [Range<Int>]? {
    switch self {
    case .startCodes: H264ByteStream.units(in: packet)
    case .lengths(let size): Self.unitsByLength(packet, size)
    }
  }

  /// Whether `packet` has NAL units of any kind.
  package func hasUnits(in packet: Span<UInt8>) -> Bool { units(in: packet).map { !$0.isEmpty } ?? false }

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
}

extension H264NALUnitHeader.Kind {
  /// A viewer needs none of these: RTP says where a picture ends, and padding is padding. Types 0 and 24…31 are not
  /// H.264's own, and mean aggregation in RTP (RFC 6184 §5.2), so they must not get there.
  fileprivate var isNeedless: Bool {
    switch self {
    case .accessUnitDelimiter, .endOfSequence, .endOfStream, .filler: true
    default: !isCodecUnit
    }
  }
}

/// Makes of the H.264 packets of a file what RTP takes: Annex B, with the parameter sets before each IDR picture.
///
/// Parameter sets come from the file's header, or in band, and the newest of each number counts. Delimiters and filler
/// are left out. Start codes are four bytes long at the beginning and on parameter sets, and three elsewhere.
package struct H264Rewriter: Sendable {
  /// One picture, rewritten.
  package struct Picture: Hashable, Sendable {
    /// NAL units in Annex B format, the parameter sets before an IDR picture.
    package var data: [UInt8]
    /// An IDR picture: decoding can begin here, and nothing after it refers to anything before.
    package var isKeyFrame: Bool
    /// Whether it has B slices, so that pictures may be out of order.
    package var hasBidirectionalSlices: Bool
  }

  /// The framing of NAL units, by the file's header.
  package let framing: H264Framing
  private var sequenceSets: [(id: Int, unit: [UInt8])] = []
  private var pictureSets: [(id: Int, unit: [UInt8])] = []

  /// The newest sequence parameter set seen; nil before the first.
  package private(set) var activeSet: H264SequenceParameterSet?

  /// Longer parameter sets than this are no more than an attack on memory.
  private static let longestParameterSet = 4096

  /// From the codec's private data in the file: an `AVCDecoderConfigurationRecord` (ISO/IEC 14496-15 §5.3.3.1), Annex B,
  /// or nothing (then Annex B is expected). Nil when it is neither.
  package init?(extradata: Span<UInt8>) {
    if extradata.count >= 1, extradata[0] == 1 {
      guard extradata.count >= 7 else { return nil }
      framing = .lengths(size: Int(extradata[4] & 3) + 1)
      guard readConfiguration(extradata) else { return nil }
    } else {
      framing = .startCodes
      guard let units = framing.units(in: extradata) else { return nil }
      for range in units { note(extradata.extracting(range)) }
    }
  }

  /// The known parameter sets, as Annex B, sequence sets first: the contents of a recording's header.
  package var parameterSets: [UInt8] {
    var bytes: [UInt8] = []
    appendParameterSets(to: &bytes)
    return bytes
  }

  /// Nil if the packet is malformed or has no picture: later pictures depend on it until the next key frame.
  package mutating func rewrite(_ packet: Span<UInt8>) -> Picture? {
    guard let units = framing.units(in: packet) else { return nil }
    var picture = Picture(data: [], isKeyFrame: false, hasBidirectionalSlices: false)
    picture.data.reserveCapacity(packet.count + 256)
    var hasSlice = false
    var seen: Set<H264NALUnitHeader.Kind> = []
    for range in units {
      let unit = packet.extracting(range)
      let type = H264NALUnitHeader.Kind(rawValue: unit[0])
      guard !type.isNeedless else { continue }
      if type.isParameterSet {
        note(unit)
        seen.insert(type)
      }
      if type == .idrSlice, !picture.isKeyFrame {
        picture.isKeyFrame = true
        insertMissing(seen, into: &picture.data)
      }
      if type == .slice || type == .partitionA || type == .idrSlice {
        hasSlice = true
        picture.hasBidirectionalSlices = picture.hasBidirectionalSlices || Self.isBidirectional(unit)
      }
      Self.append(unit, as: type, to: &picture.data)
    }
    return hasSlice ? picture : nil
  }

  /// True when the packet holds an IDR picture.
  package func isKeyFrame(_ packet: Span<UInt8>) -> Bool {
    guard let units = framing.units(in: packet) else { return false }
    for range in units where H264NALUnitHeader.Kind(rawValue: packet[range.lowerBound]) == .idrSlice { return true }
    return false
  }

  // MARK: - Parameter sets

  private mutating func readConfiguration(_ record: Span<UInt8>) -> Bool {
    var offset = 5
    for mask: UInt8 in [0x1F, 0xFF] {
      guard offset < record.count else { return false }
      let count = Int(record[offset] & mask)
      offset += 1
      for _ in 0..<count {
        guard record.count - offset >= 2 else { return false }
        let length = Int(record[offset]) << 8 | Int(record[offset + 1])
        offset += 2
        guard record.count - offset >= length else { return false }
        if length > 0 { note(record.extracting(offset..<offset + length)) }
        offset += length
      }
    }
    return true
  }

  /// Keeps a parameter set, in the place of the one with its number.
  private mutating func note(_ unit: Span<UInt8>) {
    guard unit.count <= Self.longestParameterSet else { return }
    switch H264NALUnitHeader.Kind(rawValue: unit[0]) {
    case .sequenceParameterSet:
      guard let set = H264SequenceParameterSet(parsing: unit) else { return }
      activeSet = set
      Self.keep(unit, id: set.id, in: &sequenceSets)
    case .pictureParameterSet:
      let payload = H264NALUnitHeader.payload(of: unit, limit: 8)
      var reader = BitReader(payload.span)
      guard let id = try? reader.unsignedGolomb(), id < 256 else { return }
      Self.keep(unit, id: id, in: &pictureSets)
    default: break
    }
  }

  private static func keep(_ unit: Span<UInt8>, id: Int, in sets: inout [(id: Int, unit: [UInt8])]) {
    let copy = [UInt8](copying: unit)
    if let index = sets.firstIndex(where: { $0.id == id }) {
      sets[index].unit = copy
    } else {
      sets.append((id, copy))
    }
  }

  private func insertMissing(_ seen: Set<H264NALUnitHeader.Kind>, into data: inout [UInt8]) {
    if seen.isEmpty {
      appendParameterSets(to: &data)
    } else if !seen.contains(.pictureParameterSet) {
      for set in pictureSets { Self.append(set.unit.span, as: .pictureParameterSet, to: &data) }
    } else if !seen.contains(.sequenceParameterSet) {
      // A sequence set must come before the picture sets that refer to it.
      var sets: [UInt8] = []
      for set in sequenceSets { Self.append(set.unit.span, as: .sequenceParameterSet, to: &sets) }
      data.insert(contentsOf: sets, at: 0)
    }
  }

  private func appendParameterSets(to data: inout [UInt8]) {
    for set in sequenceSets { Self.append(set.unit.span, as: .sequenceParameterSet, to: &data) }
    for set in pictureSets { Self.append(set.unit.span, as: .pictureParameterSet, to: &data) }
  }

  private static func append(_ unit: Span<UInt8>, as type: H264NALUnitHeader.Kind, to data: inout [UInt8]) {
    if data.isEmpty || type.isParameterSet { data.append(0) }
    data.append(0)
    data.append(0)
    data.append(1)
    data.append(unit)
  }

  /// Whether `slice_type` says B (ITU-T H.264 §7.3.3, table 7-6).
  private static func isBidirectional(_ slice: Span<UInt8>) -> Bool {
    let payload = H264NALUnitHeader.payload(of: slice, limit: 12)
    var reader = BitReader(payload.span)
    guard (try? reader.unsignedGolomb()) != nil, let type = try? reader.unsignedGolomb() else { return false }
    return type % 5 == 1
  }
}
