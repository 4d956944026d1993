internal import RTCPrimitives
public import RTCWire

/// Makes of the AV1 packets of a file what RTP takes: OBUs without temporal delimiters, tile lists and padding, each with
/// its size, and a sequence header before each key frame (AV1 RTP payload format §5).
public struct AV1Rewriter: Sendable {
  /// One temporal unit, rewritten.
  public struct Picture: Hashable, Sendable {
    /// OBUs without temporal delimiters, tile lists and padding, each with its size field.
    public var data: [UInt8]
    /// Begins with a shown key frame: decoding can begin here.
    public var isKeyFrame: Bool
  }

  /// The newest seen; nil before the first.
  public private(set) var sequenceHeader: AV1SequenceHeader?
  /// The newest, as a whole OBU: what a recording's header holds.
  public private(set) var sequenceHeaderUnit: [UInt8] = []

  private static let longestSequenceHeader = 4096

  /// From the codec's private data in the file: `av1C` (AV1 in ISOBMFF §2.3), plain OBUs, or nothing. What is malformed
  /// in it is left aside, for sequence headers come in band as well.
  public init(extradata: Span<UInt8>) {
    let hasRecord = extradata.count >= 4 && extradata[0] == 0x81
    let units = hasRecord ? extradata.extracting(4..<extradata.count) : extradata
    for unit in AV1OBU.units(in: units) ?? [] { note(unit, in: units) }
  }

  /// Rewrites a packet; nil when it is malformed or holds no frame.
  public mutating func rewrite(_ packet: Span<UInt8>) -> Picture? {
    guard let units = AV1OBU.units(in: packet) else { return nil }
    var picture = Picture(data: [], isKeyFrame: false)
    picture.data.reserveCapacity(packet.count + 64)
    var hasSequenceHeader = false
    var hasFrame = false
    for unit in units where !unit.isNeedless {
      if unit.header.kind == .sequenceHeader {
        note(unit, in: packet)
        hasSequenceHeader = true
      }
      if unit.isFrame, !hasFrame {
        hasFrame = true
        picture.isKeyFrame = isShownKeyFrame(packet.extracting(unit.payload))
        if picture.isKeyFrame, !hasSequenceHeader { picture.data.insert(contentsOf: sequenceHeaderUnit, at: 0) }
      }
      picture.data.append(unit.sizedHeader)
      picture.data.append(packet.extracting(unit.payload))
    }
    return hasFrame ? picture : nil
  }

  /// Whether the packet begins with a shown key frame.
  public func isKeyFrame(_ packet: Span<UInt8>) -> Bool {
    var copy = self
    return copy.rewrite(packet)?.isKeyFrame ?? false
  }

  private mutating func note(_ unit: AV1OBU, in packet: Span<UInt8>) {
    guard unit.header.kind == .sequenceHeader, unit.payload.count <= Self.longestSequenceHeader,
      let header = AV1SequenceHeader(parsing: packet.extracting(unit.payload))
    else { return }
    sequenceHeader = header
    sequenceHeaderUnit = []
    sequenceHeaderUnit.append(unit.sizedHeader)
    sequenceHeaderUnit.append(packet.extracting(unit.payload))
  }

  /// The first bits of a frame header (§5.9.2).
  private func isShownKeyFrame(_ payload: Span<UInt8>) -> Bool {
    guard let sequenceHeader, payload.count > 0 else { return false }
    if sequenceHeader.isStillPicture { return true }
    // show_existing_frame 0, frame_type 00 (key), show_frame 1
    return payload[0] >> 4 == 0b0001
  }
}

extension AV1OBU {
  fileprivate var isFrame: Bool { header.kind == .frame || header.kind == .frameHeader }
  /// Temporal delimiter, tile list, padding, and types reserved for later.
  fileprivate var isNeedless: Bool {
    header.kind == .temporalDelimiter || header.kind.rawValue == 0 || header.kind.rawValue >= 8
  }
}
