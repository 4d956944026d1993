import RTCPrimitives

/// Puts the payloads of one AV1 frame together again: units with their sizes, as decoders take them.
public struct AV1Depacketizer: Sendable {
  public private(set) var data: [UInt8] = []
  /// What has come of the unit that goes on in the next packet.
  private var partial: [UInt8] = []

  public init() {}

  /// Adds the next payload of the frame, in order; one that is malformed adds nothing.
  public mutating func append(_ payload: Span<UInt8>) {
    guard var elements = AV1Payload(parsing: payload) else { return }
    if !elements.header.continuesUnit { partial.removeAll(keepingCapacity: true) }
    let count = elements.count
    var index = 0
    while let element = elements.next(in: payload) {
      index += 1
      partial.append(payload.extracting(element))
      if index == count, elements.header.isContinued { return }
      finishUnit()
    }
  }

  private mutating func finishUnit() {
    defer { partial.removeAll(keepingCapacity: true) }
    guard let unit = AV1OBU(in: partial.span, at: 0), !unit.header.kind.isLeftOut else { return }
    data.append(unit.sizedHeader)
    data += partial[unit.payload]
  }
}
