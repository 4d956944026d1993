import RTCPrimitives
import RTCWire

/// The payload descriptor, written and read again.
public func fuzzVP9(_ bytes: Span<UInt8>) {
  var reader = ByteReader(bytes)
  guard let descriptor = VP9PayloadDescriptor(parsing: &reader) else { return }
  _ = (descriptor.startsPicture, descriptor.startsKeyFrame)
  var buffer = [UInt8](repeating: 0, count: descriptor.size)
  var writer = ByteWriter(buffer.mutableSpan)
  descriptor.write(into: &writer)
  precondition(writer.remaining == 0)
  var again = ByteReader(buffer.span)
  precondition(VP9PayloadDescriptor(parsing: &again) == descriptor)
}
