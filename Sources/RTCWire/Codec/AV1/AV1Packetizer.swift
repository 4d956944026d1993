import RTCPrimitives

/// Splits an AV1 temporal unit into RTP payloads (AV1 RTP payload format §4), without sizes.
///
/// No packet but the last ends at the end of a unit: a viewer without the dependency descriptor takes such an end for
/// the end of the picture. A small unit is copied whole before the next one, and the last byte of a large one is sent
/// together with the next.
public struct AV1Packetizer: Sendable {
  private let room: Int
  private let isKeyFrame: Bool
  /// The unit that is being sent; nil after the last.
  private var unit: Unit?
  private var isFirst = true

  private struct Unit: Sendable {
    var header: AV1OBUHeader
    var rest: Range<Int>
    /// The header has left.
    var isBegun = false
    var packetSize = 0
    let end: Int

    init(_ unit: AV1OBU) {
      header = unit.header
      header.hasSize = false
      rest = unit.payload
      end = unit.payload.upperBound
    }

    var headerSize: Int { isBegun ? 0 : header.size }
    var size: Int { headerSize + rest.count }
  }

  /// - Parameter room: the most bytes a payload may have, at least 64.
  public init(_ data: Span<UInt8>, isKeyFrame: Bool, room: Int) {
    precondition(room > 2 * PayloadPrefix.capacity, "AV1Packetizer: no room for a payload")
    self.room = room
    self.isKeyFrame = isKeyFrame
    unit = AV1OBU.sendable(in: data, from: 0).map(Unit.init)
  }

  /// True when there is nothing (more) to send: at once, where there is no unit.
  public var isAtEnd: Bool { unit == nil }
  /// Bytes of the frame that are still to come.
  public func remainingBytes(of frameSize: Int) -> Int { unit.map { frameSize - $0.rest.lowerBound } ?? 0 }

  /// The next payload, nil after the last. To be called with the same bytes always.
  public mutating func next(in data: Span<UInt8>) -> PayloadPiece? {
    guard var unit else { return nil }
    var header = AV1AggregationHeader(
      continuesUnit: unit.isBegun, isContinued: false, elements: 1, startsSequence: isFirst && isKeyFrame)
    isFirst = false
    var prefix = PayloadPrefix()
    prefix.append(0)
    var following = AV1OBU.sendable(in: data, from: unit.end).map(Unit.init)
    // Small units go before the next; three elements at most, so that the last needs no length.
    while let next = following, header.elements! < 3, prefix.canHold(unit.size, before: next.header) {
      prefix.append(UInt8(unit.size))
      prefix.append(unit.isBegun ? nil : unit.header, data.extracting(unit.rest))
      header.elements! += 1
      unit = next
      following = AV1OBU.sendable(in: data, from: unit.end).map(Unit.init)
    }
    let taken = take(&unit, after: prefix.count, isLastUnit: following == nil)
    if !taken.wasBegun { prefix.append(unit.header, data.extracting(0..<0)) }
    header.isContinued = unit.size > 0
    prefix[0] = header.byte
    self.unit = unit.size > 0 ? unit : following
    return PayloadPiece(prefix: prefix, range: taken.range, isLast: isAtEnd)
  }

  /// Takes as much of `unit` as goes into one packet behind `used` bytes.
  private func take(_ unit: inout Unit, after used: Int, isLastUnit: Bool) -> (range: Range<Int>, wasBegun: Bool) {
    let wasBegun = unit.isBegun
    let headerSize = unit.headerSize
    if used + unit.size > room, unit.packetSize == 0 {
      // All packets of the unit but the last have one size, what stands before it in the first included.
      let extra = used - AV1AggregationHeader.size
      let split = PacketSplit(frameSize: unit.size + extra, maximumPayload: room - AV1AggregationHeader.size)
      unit.packetSize = split.packetSize
    }
    let limit = (unit.packetSize == 0 ? room : unit.packetSize + AV1AggregationHeader.size) - used - headerSize
    var count = min(unit.rest.count, max(0, limit))
    if !isLastUnit, count == unit.rest.count, count > 0 { count -= 1 }
    let range = unit.rest.lowerBound..<unit.rest.lowerBound + count
    unit.rest = range.upperBound..<unit.rest.upperBound
    unit.isBegun = true
    return (range, wasBegun)
  }
}

extension PayloadPrefix {
  /// True when a unit of `size` bytes and its length fit, with the header of the one behind it.
  fileprivate func canHold(_ size: Int, before next: AV1OBUHeader) -> Bool {
    count + 1 + size + next.size <= Self.capacity
  }

  fileprivate mutating func append(_ header: AV1OBUHeader?, _ bytes: Span<UInt8>) {
    if let header {
      let written = PayloadPrefix { header.write(into: &$0) }
      for index in 0..<written.count { append(written[index]) }
    }
    for index in bytes.indices { append(bytes[index]) }
  }
}
