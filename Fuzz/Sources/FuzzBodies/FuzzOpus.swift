import RTCWire

/// The properties of a packet stay within RFC 6716.
public func fuzzOpus(_ bytes: Span<UInt8>) {
  guard let packet = OpusPacket(parsing: bytes) else { return }
  precondition((120...OpusPacket.maximumSampleCount).contains(packet.sampleCount) && packet.sampleCount % 120 == 0)
  precondition((1...48).contains(packet.frameCount) && (1...2).contains(packet.channels))
}
