import RTCPrimitives
import RTCWire
import Testing

@Suite struct SCTPChunkTests {
  private func written(_ size: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0xEE, count: size)
    var writer = ByteWriter(bytes.mutableSpan)
    write(&writer)
    #expect(writer.offset == size)
    return bytes
  }

  /// The result of `body` for the chunks of a packet; nil if the bytes are not a packet.
  private func reading<Value>(_ bytes: [UInt8], _ body: (inout SCTPChunks) -> Value?) -> Value? {
    guard let packet = SCTPPacket(parsing: bytes.span) else { return nil }
    var chunks = packet.chunks
    return body(&chunks)
  }

  /// The result of `body` for the only chunk of a packet.
  private func readingOne<Value>(_ bytes: [UInt8], _ body: (SCTPChunk) -> Value?) -> Value? {
    reading(bytes) { chunks in
      guard let chunk = chunks.next(), !chunks.hasRest else { return nil }
      return body(chunk)
    }
  }

  /// A packet of these chunks, from port 5000 to 5001 with the tag 0x01020304.
  private func packet(_ chunks: [UInt8]) -> [UInt8] {
    var bytes = written(12) {
      SCTPPacket.writeHeader(sourcePort: 5000, destinationPort: 5001, verificationTag: 0x0102_0304, into: &$0)
    }
    bytes += chunks
    var span = bytes.mutableSpan
    SCTPPacket.writeChecksum(into: &span)
    return bytes
  }

  @Test func `the checksum is that of RFC 9260`() {
    #expect(CRC32C.checksum(Array("123456789".utf8).span) == 0xE306_9283)
    // RFC 3720 §B.4: 32 bytes of zeros, of ones, and 0…31.
    #expect(CRC32C.checksum([UInt8](repeating: 0, count: 32).span) == 0x8A91_36AA)
    #expect(CRC32C.checksum([UInt8](repeating: 0xFF, count: 32).span) == 0x62A8_AB43)
    #expect(CRC32C.checksum((0..<32).map { UInt8($0) }.span) == 0x46DD_794E)
  }

  @Test func `a header is read as it was written, and its checksum holds`() {
    func header(_ bytes: [UInt8]) -> [UInt32]? {
      guard let packet = SCTPPacket(parsing: bytes.span) else { return nil }
      return [
        UInt32(packet.sourcePort), UInt32(packet.destinationPort), packet.verificationTag,
        packet.hasCorrectChecksum ? 1 : 0,
      ]
    }
    var bytes = packet([11, 0, 0, 4])
    #expect(header(bytes) == [5000, 5001, 0x0102_0304, 1])
    bytes[12] ^= 1
    #expect(header(bytes) == [5000, 5001, 0x0102_0304, 0])
    #expect(header(Array(bytes[..<15])) == nil)
  }

  @Test func `chunks end at the first whose length cannot be`() {
    func types(_ chunks: [UInt8]) -> [UInt8]? {
      reading(packet(chunks)) { chunks in
        var types: [UInt8] = []
        while let chunk = chunks.next() { types.append(chunk.type.rawValue) }
        return types + (chunks.hasRest ? [99] : [])
      }
    }
    #expect(types([11, 0, 0, 4, 10, 0, 0, 6, 1, 2, 0, 0, 14, 0, 0, 4]) == [11, 10, 14])
    #expect(types([11, 0, 0, 4, 10, 0, 0, 3, 0]) == [11, 99])
    #expect(types([11, 0, 0, 0]) == [99])
    #expect(types([11, 0, 0, 9, 0, 0, 0, 0]) == [99])
    // Padding that is missing at the end is borne.
    #expect(types([10, 0, 0, 5, 7]) == [10])
  }

  @Test(arguments: [false, true]) func `data is read as it was written`(isInterleaved: Bool) {
    for isBeginning in [true, false] {
      let data = SCTPData(
        tsn: TSN(0xFFFF_FFFE), stream: StreamID(7), isUnordered: true, isBeginning: isBeginning, isEnd: !isBeginning,
        isImmediate: true, messageNumber: isInterleaved ? 0x12345 : 0x1234,
        fragmentNumber: isInterleaved && !isBeginning ? 9 : 0,
        payloadProtocol: isInterleaved && !isBeginning ? 0 : 53, isInterleaved: isInterleaved)
      let size = SCTPData.headerSize(isInterleaved: isInterleaved) + 8
      let bytes = packet(written(size) { data.write(payload: [1, 2, 3, 4, 5].span, into: &$0) })
      #expect(readingOne(bytes) { SCTPData(parsing: $0) } == data)
      #expect(readingOne(bytes) { [UInt8](copying: SCTPData.payload(of: $0)) } == [1, 2, 3, 4, 5])
    }
  }

  @Test func `a SACK is read as it was written`() {
    typealias Block = SCTPSelectiveAck.GapBlock
    let gaps = [Block(start: 2, end: 3), Block(start: 5, end: 65_535)]
    let bytes = packet(
      written(SCTPSelectiveAck.size(gapBlocks: 2, duplicates: 1)) {
        SCTPSelectiveAck.write(
          cumulativeTSN: TSN(77), receiverWindow: 1_000, gapBlocks: gaps.span, duplicates: [TSN(70)].span, into: &$0)
      })
    let blocks = readingOne(bytes) { chunk -> [Block]? in
      guard let ack = SCTPSelectiveAck(parsing: chunk), ack.cumulativeTSN == TSN(77), ack.receiverWindow == 1_000,
        ack.duplicateCount == 1
      else { return nil }
      return (0..<ack.gapBlockCount).map { ack.gapBlock($0) }
    }
    #expect(blocks == gaps)
  }

  @Test(arguments: [false, true]) func `skips are read as they were written`(isInterleaved: Bool) {
    typealias Skip = SCTPForwardTSN.Skip
    let skips = [
      Skip(stream: StreamID(1), isUnordered: false, messageNumber: 5),
      Skip(stream: StreamID(3), isUnordered: isInterleaved, messageNumber: isInterleaved ? 0x10005 : 6),
    ]
    let bytes = packet(
      written(SCTPForwardTSN.size(skips: 2, isInterleaved: isInterleaved)) {
        SCTPForwardTSN.write(
          newCumulativeTSN: TSN(9), skips: skips.span, isInterleaved: isInterleaved, into: &$0)
      })
    let read = readingOne(bytes) { chunk -> [Skip]? in
      guard let forward = SCTPForwardTSN(parsing: chunk), forward.newCumulativeTSN == TSN(9),
        forward.isInterleaved == isInterleaved
      else { return nil }
      return (0..<forward.skipCount).map { forward.skip($0) }
    }
    #expect(read == skips)
  }

  @Test func `requests to reset and their answers are read as they were written`() {
    let request = SCTPOutgoingResetRequest(
      requestNumber: 5, responseNumber: 4, lastTSN: TSN(99), streams: [StreamID(1), StreamID(6), StreamID(8)])
    let response = SCTPReconfigurationResponse(responseNumber: 5, result: .inProgress)
    let bytes = packet(
      written(request.chunkSize) { request.writeChunk(into: &$0) }
        + written(SCTPReconfigurationResponse.chunkSize) { response.writeChunk(into: &$0) })
    let asked = reading(bytes) { chunks -> SCTPOutgoingResetRequest? in
      guard let chunk = chunks.next() else { return nil }
      var parameters = SCTPParameters(chunk.value)
      guard let parameter = parameters.next() else { return nil }
      return SCTPOutgoingResetRequest(parsing: parameter)
    }
    let answered = reading(bytes) { chunks -> SCTPReconfigurationResponse? in
      guard chunks.next() != nil, let chunk = chunks.next(), !chunks.hasRest else { return nil }
      var parameters = SCTPParameters(chunk.value)
      guard let parameter = parameters.next() else { return nil }
      return SCTPReconfigurationResponse(parsing: parameter)
    }
    #expect(asked == request && answered == response)
  }

  @Test(arguments: [[], [1, 2, 3, 4, 5] as [UInt8]]) func `an INIT is read as it was written`(cookie: [UInt8]) {
    var initiation = SCTPInitiation(
      initiateTag: 1, receiverWindow: 2, outboundStreams: 3, inboundStreams: 4, initialTSN: TSN(5))
    initiation.capabilities.hasPartialReliability = true
    initiation.capabilities.hasInterleaving = true
    initiation.capabilities.hasReconfiguration = true
    initiation.capabilities.acceptsZeroChecksum = true
    initiation.cookie = cookie
    let bytes = packet(written(initiation.size) { initiation.write(into: &$0) })
    #expect(readingOne(bytes) { $0.type } == (cookie.isEmpty ? .initiation : .initiationAck))
    #expect(readingOne(bytes) { SCTPInitiation(parsing: $0) } == initiation)
  }

  /// An INIT by hand with what libwebrtc announces: 5 MiB, 65,535 streams, FORWARD TSN, RE-CONFIG.
  @Test func `an INIT of what browsers announce is understood`() throws {
    let bytes: [UInt8] = [
      0x13, 0x88, 0x13, 0x88, 0, 0, 0, 0, 0, 0, 0, 0,
      1, 0, 0, 0x20, 0xCE, 0x2D, 0x90, 0x39, 0, 0x50, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0x3B, 0x1C, 0x71, 0x8F,
      0xC0, 0, 0, 4, 0x80, 8, 0, 6, 0x82, 0xC0, 0, 0,
    ]
    let initiation = try #require(readingOne(bytes) { SCTPInitiation(parsing: $0) })
    #expect(initiation.receiverWindow == 5 << 20 && initiation.inboundStreams == 65_535)
    #expect(initiation.capabilities.hasPartialReliability && initiation.capabilities.hasReconfiguration)
    #expect(!initiation.capabilities.hasInterleaving && !initiation.capabilities.acceptsZeroChecksum)
  }

  @Test func `an INIT without tag or streams is none, and an unknown parameter is kept to be reported`() {
    func parsed(tag: UInt8, streams: UInt8, _ parameters: [UInt8]) -> SCTPInitiation? {
      let chunk: [UInt8] =
        [1, 0, 0, UInt8(20 + parameters.count), 0, 0, 0, tag, 0, 0, 9, 9, 0, streams, 0, 1, 0, 0, 0, 1] + parameters
      return readingOne(packet(chunk)) { SCTPInitiation(parsing: $0) }
    }
    #expect(parsed(tag: 0, streams: 1, []) == nil)
    #expect(parsed(tag: 1, streams: 0, []) == nil)
    // 0xC123: pass over and report; 0x8123: pass over; then one that is known.
    let unknown: [UInt8] = [0xC1, 0x23, 0, 5, 9, 0, 0, 0, 0x81, 0x23, 0, 4]
    let initiation = parsed(tag: 1, streams: 1, unknown + [0xC0, 0, 0, 4])
    #expect(initiation?.unrecognized == Array(unknown[..<8]))
    #expect(initiation?.capabilities.hasPartialReliability == true)
    // 0x4123: report and go no further.
    #expect(parsed(tag: 1, streams: 1, [0x41, 0x23, 0, 4, 0xC0, 0, 0, 4])?.capabilities.hasPartialReliability == false)
  }
}
