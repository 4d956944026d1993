import RTCWire

/// The header, and every extension element read as every type of value.
public func fuzzRTP(_ bytes: Span<UInt8>) {
  _ = PacketKind(bytes)
  guard let header = RTPHeader(parsing: bytes) else { return }
  _ = RTXPayloadHeader(parsing: bytes.extracting(header.payload))
  var elements = header.extensionElements(in: bytes)
  while let element = elements.next() { readAllExtensions(bytes.extracting(element.range)) }
}

private func readAllExtensions(_ data: Span<UInt8>) {
  if let name = RTPStreamID(parsing: data) { precondition(RTPStreamID("\(name)") == name) }
  _ = (AbsoluteSendTime(parsing: data), TransportSequenceNumber(parsing: data), VideoContentType(parsing: data))
  _ = (PlayoutDelay(parsing: data), VideoOrientation(parsing: data), AudioLevelIndication(parsing: data))
  _ = (AbsoluteCaptureTime(parsing: data), ColorSpaceDescription(parsing: data))
}
