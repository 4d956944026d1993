import RTCNet

/// Streams of both framings, cut at places that the input chooses: messages are the same however they are cut.
public func fuzzStreams(_ bytes: Span<UInt8>) {
  guard bytes.count > 1 else { return }
  let stream = bytes.extracting(1..<bytes.count)
  for framing in [StreamFraming.lengthPrefixed, .turn] {
    precondition(messages(stream, framing, part: Int(bytes[0]) + 1) == messages(stream, framing, part: stream.count))
  }
}

private func messages(_ stream: Span<UInt8>, _ framing: StreamFraming, part: Int) -> [[UInt8]] {
  var deframer = StreamDeframer(framing)
  var found: [[UInt8]] = []
  var start = 0
  while start < stream.count {
    let end = min(stream.count, start + part)
    do throws(StreamFramingError) {
      try deframer.receive(stream.extracting(start..<end)) { bytes in
        found.append(bytes.indices.map { bytes[$0] })
      }
    } catch {
      break
    }
    start = end
  }
  return found
}
