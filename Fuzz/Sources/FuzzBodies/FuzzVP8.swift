import RTCPrimitives
import RTCWire

/// The payload descriptor, written and read again, and the frame header behind it.
public func fuzzVP8(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let descriptor = VP8PayloadDescriptor(parsing: &reader) else { return }
  _ = VP8FrameHeader(parsing: reader.readRest())
  var buffer = [UInt8](repeating: 0, count: descriptor.size)
  var writer = ByteWriter(buffer.mutableSpan)
  descriptor.write(into: &writer)
  precondition(writer.remaining == 0)
  var again = ByteReader(buffer.span)
  precondition(VP8PayloadDescriptor(parsing: &again) == descriptor)
}
