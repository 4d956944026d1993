import RTCPrimitives
import RTCWire

/// The bytes as a payload, then as a temporal unit: packetized with a size that the first byte gives, reassembled, and
/// packetized again with the same result.
public func fuzzAV1(_ bytes: Span<UInt8>) {
  var assembly = AV1Depacketizer()
  assembly.append(bytes)
  guard bytes.count > 1 else { return }
  let room = 64 + Int(bytes[0])
  let once = fuzzAV1Reassembled(bytes.extracting(1..<bytes.count), room: room)
  let twice = fuzzAV1Reassembled(once.span, room: 64 + Int(bytes[0] &* 7))
  precondition(once == twice)
}

private func fuzzAV1Reassembled(_ data: Span<UInt8>, room: Int) -> [UInt8] {
  var split = AV1Packetizer(data, isKeyFrame: room % 2 == 1, room: room)
  var assembly = AV1Depacketizer()
  var rest = data.count
  while let piece = split.next(in: data) {
    precondition(piece.count <= room && piece.isLast == split.isAtEnd)
    precondition(split.remainingBytes(of: data.count) <= rest)
    rest = split.remainingBytes(of: data.count)
    let payload = fuzzPayload(piece, data)
    precondition(AV1Payload(parsing: payload.span) != nil)
    assembly.append(payload.span)
  }
  return assembly.data
}
