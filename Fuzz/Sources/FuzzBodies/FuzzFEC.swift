import RTCEngine
import RTCPrimitives
import RTCWire

/// Repair packets and protected media, in any order: a byte gives kind and length, then come the bytes. Headers are
/// written again as they were read; restored packets can be parsed.
public func fuzzFEC(_ bytes: Span<UInt8>) {
  var map = RTPHeaderExtensionMap()
  map[.absSendTime] = 2
  map[.transportSequenceNumber] = 4
  var decoder = FECDecoder(ssrc: SSRC(7))
  var sound = AudioReceiveStream(ssrc: SSRC(9), first: SequenceNumber(0))
  var reader = ByteReader(bytes)
  while let said = reader.readUInt8() {
    let count = min(reader.remaining, Int(said & 0x3F) * 4)
    guard let part = reader.read(count) else { return }
    switch said >> 6 {
    case 0:
      if let header = FlexFECHeader(parsing: part) { checkFlexFEC(header) }
      _ = decoder.addFlexFEC(part)
    case 1:
      if let header = ULPFECHeader(parsing: part) {
        precondition(header.size + Int(header.protectionLength) <= part.count && header.mask.span <= 48)
      }
      _ = decoder.addULPFEC(part)
    case 2:
      if let header = RTPHeader(parsing: part) {
        decoder.addMedia(header, in: part, map: map, isRED: header.payloadType.value & 1 == 1)
      }
    default:
      if let header = RTPHeader(parsing: part) { checkSound(header, part, &sound) }
    }
    while let number = decoder.takeRestored() {
      let packet = decoder.packet(number)
      precondition(packet.count >= RTPHeader.fixedSize && packet.count <= FECDecoder.slotSize && packet[0] >> 6 == 2)
      precondition(SequenceNumber(UInt16(packet[2]) << 8 | UInt16(packet[3])) == number)
    }
  }
}

private func checkFlexFEC(_ header: FlexFECHeader) {
  // The shortest form of a mask is written.
  let again = FlexFECHeader(fields: header.fields, ssrc: header.ssrc, base: header.base, mask: header.mask)
  var buffer = [UInt8](repeating: 0, count: FlexFECHeader.sizes.long)
  var writer = ByteWriter(buffer.mutableSpan)
  again.write(into: &writer)
  let count = writer.offset
  precondition(count == again.size && count <= header.size)
  precondition(FlexFECHeader(parsing: buffer.span.extracting(0..<count)) == again)
}

private func checkSound(_ header: RTPHeader, _ packet: Span<UInt8>, _ stream: inout AudioReceiveStream) {
  let payload = packet.extracting(header.payload)
  guard let blocks = REDBlocks(parsing: payload) else { return }
  var walk = blocks
  var end = 0
  while let block = walk.next(in: payload) {
    precondition(block.range.lowerBound >= end && block.range.upperBound <= payload.count)
    end = block.range.upperBound
  }
  precondition(end == payload.count)
  guard
    let received = stream.receive(header, blocks, in: payload, codec: header.payloadType, now: .zero)
  else { return }
  for earlier in received.restored { precondition(earlier.number < received.primary.number) }
}
