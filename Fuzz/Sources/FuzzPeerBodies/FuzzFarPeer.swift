import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire

/// A connected peer under media, reports and data of a remote peer that has completed the handshake and then keeps no
/// rule: its packets are encrypted and authentic. The input is a list of steps, the kind first, then its values. The
/// connection ends when the remote peer ends it and never otherwise, and no packet makes the peer send without bound.
public func fuzzFarPeer(_ bytes: Span<UInt8>) {
  guard var far = FarPeer() else { return }
  var reader = ByteReader(bytes)
  var steps = 0
  while steps < 200, let kind = reader.readUInt8() {
    step(kind, &reader, &far)
    steps += 1
  }
  // Pending work ends, and no deadline repeats without end.
  far.pass(.milliseconds(500))
}

private func step(_ kind: UInt8, _ reader: inout ByteReader, _ far: inout FarPeer) {
  switch kind % 12 {
  case 0...3: media(&reader, &far)
  case 4...7:
    // A compound of up to four.
    var compound: [UInt8] = []
    for _ in 0...((reader.readUInt8() ?? 0) & 3) { compound += report(&reader, &far) }
    far.sendRTCP(compound)
  case 8: far.sendRTCP(takeBytes(&reader))
  case 9: far.sendData(takeBytes(&reader))
  case 10: far.pass(.milliseconds(Int64(reader.readUInt8() ?? 1)))
  default: far.makeMedia(reader.readUInt8() ?? 0)
  }
}

/// A packet of some source and codec, with numbers near those before or far away.
private func media(_ reader: inout ByteReader, _ far: inout FarPeer) {
  let flags = reader.readUInt8() ?? 0
  let type = far.payloadTypes[Int(flags & 15) % far.payloadTypes.count]
  let source = Int(flags >> 4 & 3)
  let jump = Int8(bitPattern: reader.readUInt8() ?? 1)
  // Small steps, or the same over the whole circle.
  let number = far.nextNumber(of: source, step: flags & 0x40 == 0 ? Int(jump) : Int(jump) * 256)
  let times = (reader.readUInt8() ?? 0)
  var packet: [UInt8] = [times & 0x20 == 0 ? 0x80 : 0x90, (times & 0x10) << 3 | type]
  packet += FarPeer.bytes(number) + FarPeer.bytes(far.timestamp &+ UInt32(times & 15) &* 3_000)
  packet += FarPeer.bytes(far.sources[source % far.sources.count])
  if times & 0x20 != 0 {
    var extensions = takeBytes(&reader)
    extensions += [UInt8](repeating: 0, count: -extensions.count & 3)
    packet += [0xBE, 0xDE] + FarPeer.bytes(UInt16(extensions.count / 4)) + extensions
  }
  far.sendRTP(packet + takeBytes(&reader))
}

/// One RTCP packet of any kind about sources that exist or do not.
private func report(_ reader: inout ByteReader, _ far: inout FarPeer) -> [UInt8] {
  let head = reader.readUInt8() ?? 0
  let about = reader.readUInt8() ?? 0
  var body = FarPeer.bytes(far.sources[Int(about & 3) % far.sources.count])
  if !far.heardSources.isEmpty, about & 0x80 == 0 {
    body += FarPeer.bytes(far.heardSources[Int(about >> 2 & 7) % far.heardSources.count])
  }
  let rest = takeBytes(&reader)
  body += rest + [UInt8](repeating: 0, count: -rest.count & 3)
  let type = 200 + head >> 5
  if type == 203 { far.hasSaidGoodbye = true }
  return [0x80 | head & 0x1F, type] + FarPeer.bytes(UInt16(body.count / 4)) + body
}

/// At most 255 bytes, as many as the first one says.
private func takeBytes(_ reader: inout ByteReader) -> [UInt8] {
  let wanted = Int(reader.readUInt8() ?? 0)
  var bytes: [UInt8] = []
  while bytes.count < wanted, let byte = reader.readUInt8() { bytes.append(byte) }
  return bytes
}
