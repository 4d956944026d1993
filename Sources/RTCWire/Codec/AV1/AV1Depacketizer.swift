import RTCPrimitives

/// Puts the payloads of one AV1 frame together again: units with their sizes, as decoders take them.
///
/// A unit's size stands before its payload and is known only at its end, which may come some packets later. So room is
/// left for the size that the rest of the frame allows; only where that proves too much the unit is moved.
public struct AV1Depacketizer: Sendable {
  /// Complete units, then the part of a unit that continues in the next packet.
  private var bytes: [UInt8] = []
  private var open: OpenUnit?
  /// Bytes of payloads that are still to come, as far as is known.
  private var remaining: Int

  private struct OpenUnit {
    var start: Int
    /// Bytes that are left free for the size, from `start` on; the unit as it came follows.
    var gap: Int
  }

  /// - Parameters:
  ///   - payloadSize: bytes of all payloads that will be appended, if that is known: memory is made for them at once.
  ///   - packets: their number.
  public init(payloadSize: Int = 0, packets: Int = 0) {
    remaining = payloadSize
    // At most three bytes of a size are added, for the one element without a size; its aggregation header is removed.
    bytes.reserveCapacity(payloadSize + 3 * packets)
  }

  /// The units that have come as a whole.
  public var data: [UInt8] {
    guard let open else { return bytes }
    return [UInt8](bytes[..<open.start])
  }

  /// Adds the next payload of the frame, in order; one that is malformed adds nothing.
  public mutating func append(_ payload: Span<UInt8>) {
    guard var elements = AV1Payload(parsing: payload) else { return }
    if !elements.header.continuesUnit { dropOpenUnit() }
    let count = elements.count
    var index = 0
    remaining -= payload.count
    while let element = elements.next(in: payload) {
      index += 1
      let goesOn = index == count && elements.header.isContinued
      if open == nil { begin(payload.extracting(element), unsaid: goesOn ? max(0, remaining) : 0) }
      bytes.append(payload.extracting(element))
      if !goesOn { finishUnit() }
    }
  }

  /// Leaves room for the size of a unit that begins with `element`, if it does not bring its own.
  /// - Parameter unsaid: bytes that may follow in other packets.
  private mutating func begin(_ element: Span<UInt8>, unsaid: Int) {
    var gap = 0
    var reader = ByteReader(element)
    if let header = AV1OBUHeader(parsing: &reader), !header.hasSize {
      gap = Self.size(ofLEB128: element.count - header.size + unsaid)
    }
    open = OpenUnit(start: bytes.count, gap: gap)
    for _ in 0..<gap { bytes.append(0) }
  }

  private mutating func finishUnit() {
    guard let open else { return }
    guard let unit = AV1OBU(in: bytes.span, at: open.start + open.gap), !unit.header.kind.isLeftOut else {
      return dropOpenUnit()
    }
    self.open = nil
    bytes.removeLast(bytes.count - unit.payload.upperBound)
    let front = unit.sizedHeader
    let room = unit.payload.lowerBound - open.start
    if room != front.count {
      let excess = max(0, room - front.count)
      bytes.replaceSubrange(
        open.start..<open.start + excess, with: repeatElement(0, count: max(0, front.count - room)))
    }
    for index in 0..<front.count { bytes[open.start + index] = front[index] }
  }

  private mutating func dropOpenUnit() {
    guard let open else { return }
    bytes.removeLast(bytes.count - open.start)
    self.open = nil
  }

  /// Bytes that `value` takes as `writeLEB128` writes it.
  private static func size(ofLEB128 value: Int) -> Int {
    max(1, (Int.bitWidth - max(0, value).leadingZeroBitCount + 6) / 7)
  }
}
