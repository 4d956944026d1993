import RTCPrimitives
import RTCWire

/// The bytes as a payload, then as a frame: cut into packets of a size the first byte gives and put together again.
public func fuzzH264(_ bytes: Span<UInt8>) {
  var frame: [UInt8] = []
  H264Payload(parsing: bytes)?.append(bytes, to: &frame)
  guard bytes.count > 1 else { return }
  let room = 3 + Int(bytes[0])
  let data = bytes.extracting(1..<bytes.count)
  var units = H264ByteStream(data)
  var expected: [UInt8] = []
  while let unit = units.nextUnit(in: data) {
    // A payload cannot hold a unit whose header is none of the codec's.
    guard let header = H264NALUnitHeader(data[unit.lowerBound]), (1...23).contains(header.kind.rawValue) else { return }
    expected += [0, 0, 0, 1]
    for index in unit { expected.append(data[index]) }
  }
  var split = H264Packetizer(data, room: room)
  precondition(split.isAtEnd == expected.isEmpty)
  frame = []
  var isWhole = false
  while let piece = split.next(in: data) {
    precondition(!isWhole && piece.count <= room)
    isWhole = piece.isLast
    let payload = fuzzPayload(piece, data)
    H264Payload(parsing: payload.span)!.append(payload.span, to: &frame)
  }
  precondition(frame == expected && isWhole == !expected.isEmpty && split.remainingBytes(of: data.count) == 0)
}

/// The bytes of a payload.
func fuzzPayload(_ piece: PayloadPiece, _ data: Span<UInt8>) -> [UInt8] {
  var payload: [UInt8] = []
  for index in 0..<piece.prefix.count { payload.append(piece.prefix[index]) }
  for index in piece.range { payload.append(data[index]) }
  return payload
}
