import RTCPrimitives
import RTCSCTP
import RTCWire

/// A connected transport under packets of a peer that keeps no rule. The input is a list of steps: what kind, then what
/// that kind needs.
public func fuzzSCTP(_ bytes: Span<UInt8>) {
  var options = DataChannelOptions()
  options.maximumMessageSize = 2_000
  options.maximumNameBytes = 1_000
  options.maximumStreams = 64
  var reader = ByteReader(bytes)
  // The first byte of a list is a step as any other; with I-DATA everything is read otherwise.
  var peer = ForgedClient(options: options, interleaves: bytes.count > 0 && bytes[0] & 128 != 0)
  precondition(peer.events.contains(.connected))
  var steps = 0
  while steps < 200, let kind = reader.readUInt8() {
    step(kind, &reader, &peer)
    steps += 1
  }
  for event in peer.events {
    if case .message(_, let message) = event { precondition(message.size <= options.maximumMessageSize) }
  }
  precondition(peer.server.nextDeadline > peer.now)
  peer.closeServer()
  precondition(peer.server.nextDeadline == .distantFuture)
  guard case .ended? = peer.events.last else { fatalError("the end is not said") }
}

private func step(_ kind: UInt8, _ reader: inout ByteReader, _ peer: inout ForgedClient) {
  switch kind % 13 {
  case 0: peer.inject(takePayload(&reader).span)
  case 1: peer.send(chunks: takePayload(&reader))
  case 2, 3:
    let flags = reader.readUInt8() ?? 3
    let stream = UInt16(reader.readUInt8() ?? 0)
    let number = UInt16(reader.readUInt8() ?? 0)
    let offset = kind % 13 == 3 ? reader.readUInt8().map { UInt32(bitPattern: Int32(Int8(bitPattern: $0))) } : nil
    let payload = 48 + UInt32((reader.readUInt8() ?? 3) % 12)
    peer.sendData(
      takePayload(&reader), flags: flags, stream: stream, number: number, protocol: payload,
      tsn: offset.map { peer.nextTSN &+ $0 }, fragment: UInt32(kind >> 4))
  case 4: peer.sendReset(of: takePayload(&reader).map(UInt16.init))
  case 5: peer.pass(.milliseconds(Int64(reader.readUInt8() ?? 1) * 20))
  case 6: peer.acknowledge(window: UInt32(reader.readUInt8() ?? 0) * 1_000)
  case 7:
    let offset = UInt32(reader.readUInt8() ?? 1)
    peer.forward(to: peer.nextTSN &+ offset, stream: UInt16(reader.readUInt8() ?? 0), number: 0)
  case 8: peer.openOnServer(DataChannelParameters(label: "ours"))
  case 9: peer.beginAnew(seed: UInt64(reader.readUInt8() ?? 0), echoes: kind & 64 != 0)
  case 10: acknowledgeGaps(&reader, &peer)
  case 11:
    peer.setPath(rate: BitRate(bitsPerSecond: Int64(kind >> 6) << 20), loss: Double(kind >> 5) / 100)
    peer.setReceiving(kind & 64 == 0)
  default:
    let handles = peer.events.compactMap { event -> DataChannelHandle? in
      switch event {
      case .incoming(let handle, _), .opened(let handle): handle
      default: nil
      }
    }
    guard let choice = reader.readUInt8(), !handles.isEmpty else { return }
    let handle = handles[Int(choice >> 1) % handles.count]
    if choice & 1 == 0 { peer.closeOnServer(handle) } else { peer.sendFromServer(.text("one"), on: handle) }
  }
}

/// A SACK of any numbers.
private func acknowledgeGaps(_ reader: inout ByteReader, _ peer: inout ForgedClient) {
  let offset = UInt32(bitPattern: Int32(Int8(bitPattern: reader.readUInt8() ?? 0)))
  var blocks: [SCTPSelectiveAck.GapBlock] = []
  for _ in 0..<(reader.readUInt8() ?? 0) % 8 {
    let start = reader.readUInt16() ?? 2
    blocks.append(SCTPSelectiveAck.GapBlock(start: start, end: start &+ UInt16(reader.readUInt8() ?? 0)))
  }
  peer.acknowledge(cumulative: peer.lastServerTSN &+ offset, gaps: blocks)
}

/// At most 255 bytes, as many as the first one says.
private func takePayload(_ reader: inout ByteReader) -> [UInt8] {
  let wanted = Int(reader.readUInt8() ?? 0)
  var payload: [UInt8] = []
  while payload.count < wanted, let byte = reader.readUInt8() { payload.append(byte) }
  return payload
}
