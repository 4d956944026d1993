import RTCNet
import Testing

/// Messages in TCP streams.
@Suite struct StreamFramingTests {
  private let stun: [UInt8] = [0, 1, 0, 4] + [UInt8](repeating: 7, count: 20)
  private let channelData: [UInt8] = [0x40, 1, 0, 5, 1, 2, 3, 4, 5]

  private func messages(_ stream: [UInt8], _ framing: StreamFraming, parts: Int) throws -> [[UInt8]] {
    var deframer = StreamDeframer(framing)
    var found: [[UInt8]] = []
    for start in stride(from: 0, to: stream.count, by: parts) {
      let part = Array(stream[start..<min(stream.count, start + parts)])
      try deframer.receive(part.span) { bytes in
        found.append(bytes.indices.map { bytes[$0] })
      }
    }
    return found
  }

  @Test(arguments: [1, 3, 7, 1_000]) func `messages with a length in front come out as they went in`(parts: Int) throws
  {
    var stream: [UInt8] = []
    let sent: [[UInt8]] = [[1], [UInt8](repeating: 2, count: 1_200), [3, 4, 5]]
    for message in sent { StreamFraming.lengthPrefixed.append(message.span, to: &stream) }
    #expect(Array(stream.prefix(3)) == [0, 1, 1])
    #expect(try messages(stream, .lengthPrefixed, parts: parts) == sent)
  }

  @Test(arguments: [1, 3, 7, 1_000]) func `STUN and ChannelData say their length, and ChannelData is padded`(
    parts: Int
  ) throws {
    var stream: [UInt8] = []
    for message in [channelData, stun, channelData] { StreamFraming.turn.append(message.span, to: &stream) }
    #expect(stream.count == 12 + 24 + 12)
    #expect(try messages(stream, .turn, parts: parts) == [channelData, stun, channelData])
  }

  @Test func `what is neither STUN nor ChannelData breaks the stream`() {
    #expect(throws: StreamFramingError.self) { try messages(Array("HTTP/1.1 400".utf8), .turn, parts: 100) }
    #expect(throws: StreamFramingError.self) { try messages([0x80, 0, 0, 0], .turn, parts: 100) }
  }

  @Test func `a message that is too long breaks the stream before it is gathered`() {
    #expect(throws: StreamFramingError.self) { try messages([0xFF, 0xFF], .lengthPrefixed, parts: 2) }
    #expect(throws: StreamFramingError.self) { try messages([0, 1, 0xFF, 0xF0], .turn, parts: 4) }
  }

  @Test func `empty messages are left out`() throws {
    #expect(try messages([0, 0, 0, 1, 9], .lengthPrefixed, parts: 5) == [[9]])
  }
}
