/// Makes of the AV1 packets of a file what RTP takes: OBUs without temporal delimiters, tile lists and padding, each with
/// its size, and a sequence header before each key frame (AV1 RTP payload format §5).
public struct AV1Rewriter: Sendable {
  public struct Picture: Hashable, Sendable {
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
    for unit in AV1Unit.units(in: units) ?? [] { note(unit, in: units) }
  }

  /// Nil when the packet is malformed or holds no frame.
  public mutating func rewrite(_ packet: Span<UInt8>) -> Picture? {
    guard let units = AV1Unit.units(in: packet) else { return nil }
    var picture = Picture(data: [], isKeyFrame: false)
    picture.data.reserveCapacity(packet.count + 64)
    var hasSequenceHeader = false
    var hasFrame = false
    for unit in units where !unit.isNeedless {
      if unit.type == AV1Unit.sequenceHeader {
        note(unit, in: packet)
        hasSequenceHeader = true
      }
      if unit.isFrame, !hasFrame {
        hasFrame = true
        picture.isKeyFrame = isShownKeyFrame(packet.extracting(unit.payload))
        if picture.isKeyFrame, !hasSequenceHeader { picture.data.insert(contentsOf: sequenceHeaderUnit, at: 0) }
      }
      unit.append(from: packet, to: &picture.data)
    }
    return hasFrame ? picture : nil
  }

  /// True when the packet begins with a shown key frame.
  public func isKeyFrame(_ packet: Span<UInt8>) -> Bool {
    var copy = self
    return copy.rewrite(packet)?.isKeyFrame ?? false
  }

  private mutating func note(_ unit: AV1Unit, in packet: Span<UInt8>) {
    guard unit.type == AV1Unit.sequenceHeader, unit.payload.count <= Self.longestSequenceHeader,
      let header = AV1SequenceHeader(parsing: packet.extracting(unit.payload))
    else { return }
    sequenceHeader = header
    sequenceHeaderUnit = []
    unit.append(from: packet, to: &sequenceHeaderUnit)
  }

  /// The first bits of a frame header (§5.9.2).
  private func isShownKeyFrame(_ payload: Span<UInt8>) -> Bool {
    guard let sequenceHeader, payload.count > 0 else { return false }
    if sequenceHeader.isStillPicture { return true }
    // show_existing_frame 0, frame_type 00 (key), show_frame 1
    return payload[0] >> 4 == 0b0001
  }
}

/// Where an open bitstream unit lies in a packet (AV1 bitstream specification §5.3).
struct AV1Unit {
  static let sequenceHeader = 1

  let type: Int
  /// The header's first byte, and the second where there is one.
  let header: (UInt8, extension: UInt8?)
  let payload: Range<Int>

  var isFrame: Bool { type == 3 || type == 6 }
  /// Temporal delimiter, tile list, padding, and types reserved for later.
  var isNeedless: Bool { type == 2 || type == 0 || type >= 8 }

  /// Nil when a size points past the end.
  static func units(in packet: Span<UInt8>) -> [AV1Unit]? {
    var units: [AV1Unit] = []
    var offset = 0
    while offset < packet.count {
      let first = packet[offset]
      guard first & 0x80 == 0 else { return nil }
      offset += 1
      var second: UInt8?
      if first & 4 != 0 {
        guard offset < packet.count else { return nil }
        second = packet[offset]
        offset += 1
      }
      var size = packet.count - offset
      if first & 2 != 0 {
        guard let stated = readSize(packet, &offset), stated <= packet.count - offset else { return nil }
        size = stated
      }
      units.append(AV1Unit(type: Int(first >> 3 & 15), header: (first, second), payload: offset..<offset + size))
      offset += size
    }
    return units
  }

  /// `leb128` (§4.10.5); nil when it is cut off or above 2³²−1.
  private static func readSize(_ packet: Span<UInt8>, _ offset: inout Int) -> Int? {
    var value = 0
    for index in 0..<8 {
      guard offset < packet.count else { return nil }
      let byte = packet[offset]
      offset += 1
      value |= Int(byte & 0x7F) << (7 * index)
      if byte & 0x80 == 0 { return value <= Int(UInt32.max) ? value : nil }
    }
    return nil
  }

  /// Appends the unit with its size stated.
  func append(from packet: Span<UInt8>, to data: inout [UInt8]) {
    data.append(header.0 | 2)
    if let second = header.extension { data.append(second) }
    var rest = payload.count
    while rest >= 0x80 {
      data.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    data.append(UInt8(rest))
    data.append(packet.extracting(payload))
  }
}
