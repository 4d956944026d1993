import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import RTCWire
import SDPKit
import Testing

@Suite struct SoundLevelsTravel {
  private func pair(_ rewrite: @escaping (PeerPair.Side, String) -> String = { $1 }) throws -> PeerPair {
    var options = PeerPair.Options.soundAlone
    options.rewrite = rewrite
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    return pair
  }

  @Test func `the far side learns how loud each packet is, and its statistics tell (RFC 6464)`() throws {
    let pair = try pair()
    var source = SyntheticAudio(from: pair.now)
    source.level = AudioLevel(attenuation: 20)
    pair.sender.audioSource = source
    pair.run(for: .seconds(1))
    #expect(pair.receiver.audio.count > 40)
    #expect(pair.receiver.audio.allSatisfy { $0.level == AudioLevel(attenuation: 20) })
    let loud = try #require(pair.receiver.peer.statistics.streams.first?.reception?.audioLevel)
    #expect(abs(loud - 0.1) < 1e-6)
    pair.sender.audioSource?.level = .silence
    pair.run(for: .milliseconds(200))
    #expect(pair.receiver.peer.statistics.streams.first?.reception?.audioLevel == 0)
  }

  @Test func `v says that something is heard`() {
    var stream = AudioSendStream(
      identity: AudioSendIdentity(
        ssrc: SSRC(1), cname: "c", firstSequenceNumber: SequenceNumber(1), timestampOffset: RTPTimestamp(0)),
      format: AudioSendFormat(mid: nil, payloadType: PayloadType(111), extensionMap: Self.map))
    for (attenuation, byte) in [(12, 0x80 | 12), (59, 0x80 | 59), (60, 60), (127, 127)] as [(UInt8, UInt8)] {
      var datagram = [UInt8](repeating: 0, count: 1_500)
      let frame = EncodedAudioFrame(
        data: [0xFC, 1], position: 0, sampleCount: 960, captureTime: .zero,
        level: AudioLevel(attenuation: attenuation))
      var span = datagram.mutableSpan
      let count = stream.write(
        frame, into: &span, at: DepartureFields(now: .zero, transportNumber: TransportSequenceNumber(0)))
      let header = RTPHeader(parsing: datagram.span.extracting(0..<count))!
      var elements = header.extensionElements(in: datagram.span)
      let element = elements.next()
      #expect(element.map { datagram[$0.range.lowerBound] } == byte)
    }
  }

  private static var map: RTPHeaderExtensionMap {
    var map = RTPHeaderExtensionMap()
    map[.audioLevel] = 3
    return map
  }

  @Test func `without agreement nothing is said`() throws {
    let uri = RTPHeaderExtensionURI.audioLevel.rawValue
    let pair = try pair { _, description in
      description.split(separator: "\r\n").filter { !$0.hasSuffix(uri) }.joined(separator: "\r\n") + "\r\n"
    }
    var source = SyntheticAudio(from: pair.now)
    source.level = AudioLevel(attenuation: 20)
    pair.sender.audioSource = source
    pair.run(for: .seconds(1))
    #expect(pair.receiver.audio.count > 40 && pair.receiver.audio.allSatisfy { $0.level == nil })
    #expect(pair.receiver.peer.statistics.streams.first?.reception?.audioLevel == nil)
  }

  @Test(arguments: [ChromiumOffers.call, FirefoxOffers.call]) func `browsers that offer it are answered with it`(
    _ offer: String
  ) throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      if side == .answerer { configuration.sendsAudio = .init() }
    }
    let pair = try PeerPair(options)
    pair.perform(.answerer, .acceptOffer(offer))
    let answer = try SessionDescription(parsing: #require(pair.answerer.localDescription))
    let sound = try #require(answer.media.first { $0.kind == .audio })
    #expect(sound.headerExtensions.contains { $0.uri == RTPHeaderExtensionURI.audioLevel.rawValue })
  }
}
