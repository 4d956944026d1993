import RTCPrimitives
import RTCWire
import Testing

@Suite struct RTPOutgoingHeaderTests {
  private func header(_ configure: (inout RTPOutgoingHeader) -> Void = { _ in }) -> RTPOutgoingHeader {
    var header = RTPOutgoingHeader(
      payloadType: PayloadType(96), sequenceNumber: SequenceNumber(65_535), timestamp: RTPTimestamp(0xFFFF_FFF0),
      ssrc: SSRC(0x1122_3344), marker: true)
    configure(&header)
    return header
  }

  private func allExtensions() -> RTPOutgoingExtensions {
    var extensions = RTPOutgoingExtensions()
    extensions.mid = RTPStreamID("video")
    extensions.rid = RTPStreamID("hi")
    extensions.repairedRid = RTPStreamID("lo")
    extensions.absSendTime = .placeholder
    extensions.transportSequenceNumber = .placeholder
    extensions.contentType = .screenshare
    extensions.playoutDelay = .immediate
    extensions.orientation = .upright
    extensions.captureTime = AbsoluteCaptureTime(captured: NTPTimestamp(7), clockOffset: 9)
    extensions.audioLevel = AudioLevelIndication(level: AudioLevel(attenuation: 5), hasVoice: false)
    extensions.colorSpace = .bt709Limited
    return extensions
  }

  @Test func `a bare header is twelve bytes`() {
    let header = header()
    let bytes = writtenBytes { #expect(header.write(into: &$0, map: RTPHeaderExtensionMap()) == RTPLateFields()) }
    #expect(bytes == wireBytes("80e0fffffffffff011223344"))
    #expect(header.size(map: RTPHeaderExtensionMap()) == 12)
  }

  @Test func `late fields are where they are said to be`() throws {
    let map = RTPHeaderExtensionMap(offering: [.mid, .absSendTime, .transportSequenceNumber])
    let header = header {
      $0.extensions.mid = RTPStreamID("video")
      $0.extensions.absSendTime = .placeholder
      $0.extensions.transportSequenceNumber = .placeholder
      $0.extensions.orientation = .upright  // not negotiated, so not written
    }
    var late = RTPLateFields()
    var bytes = writtenBytes { late = header.write(into: &$0, map: map) }
    #expect(bytes.count == header.size(map: map))
    var span = bytes.mutableSpan
    late.patch(
      &span, absSendTime: AbsoluteSendTime(0x15846C), transportSequenceNumber: TransportSequenceNumber(0x1234))
    #expect(bytes == wireBytes("90e0fffffffffff011223344 bede0004 2215846c 311234 14766964656f 000000"))
    #expect(late.absSendTimeOffset == 17 && late.transportSequenceNumberOffset == 21)
  }

  @Test func `offsets count from the packet, not from the buffer`() {
    let header = header { $0.extensions.transportSequenceNumber = .placeholder }
    _ = writtenBytes { writer in
      writer.write(repeating: 0, count: 100)
      let late = header.write(into: &writer, map: RTPHeaderExtensionMap(offering: [.transportSequenceNumber]))
      #expect(late.transportSequenceNumberOffset == 17 && late.absSendTimeOffset == nil)
    }
  }

  @Test(arguments: [14, 15, 200] as [UInt8]) func `every extension comes back in either form`(lastID: UInt8) throws {
    var map = RTPHeaderExtensionMap(offering: RTPHeaderExtensionURI.allCases)
    map[.audioLevel] = lastID
    let header = header { $0.extensions = allExtensions() }
    let packet = writtenBytes { _ = header.write(into: &$0, map: map) }
    #expect(packet.count == header.size(map: map) && packet.count % 4 == 0)
    let parsed = try #require(parsing(packet, RTPHeader.init(parsing:)))
    #expect(parsed.extensionProfile == (lastID > 14 ? 0x1000 : 0xBEDE))
    var elements = parsed.extensionElements(in: packet.span)
    var found: [RTPHeaderExtensionURI: [UInt8]] = [:]
    while let element = elements.next() { found[try #require(map.uri(id: element.id))] = Array(packet[element.range]) }
    #expect(found.count == RTPHeaderExtensionURI.allCases.count)
    #expect(found[.mid] == Array("video".utf8))
    #expect(found[.rid] == Array("hi".utf8))
    #expect(found[.repairedRid] == Array("lo".utf8))
    #expect(found[.absCaptureTime]?.count == 16)
    #expect(found[.videoContentType] == [1])
    #expect(found[.playoutDelay] == [0, 0, 0])
    #expect(found[.audioLevel] == [5])
    #expect(found[.colorSpace] == [1, 1, 1, 0x10])
  }
}
