import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct RealDescriptionTests {
  static let all = [
    ChromiumOffers.receiver, ChromiumOffers.call, ChromiumOffers.simulcast, FirefoxOffers.receiver,
    FirefoxOffers.call, FirefoxOffers.simulcast, AiortcOffers.receiver, AiortcOffers.call, HandmadeOffers.safari,
    HandmadeOffers.webrtcbin,
  ]

  @Test(arguments: all.indices) func `what is written reads the same`(_ index: Int) throws {
    let read = try SessionDescription(parsing: Self.all[index])
    #expect(read.media.allSatisfy { $0.transport.credentials != nil || $0.isBundleOnly })
    let written = read.description
    #expect(written.utf8.count { $0 == 10 } == written.utf8.count { $0 == 13 })
    #expect(try SessionDescription(parsing: written) == read)
  }

  @Test(arguments: all.indices) func `line endings do not matter`(_ index: Int) throws {
    let crlf = Self.all[index].split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
    #expect(try SessionDescription(parsing: crlf) == SessionDescription(parsing: Self.all[index]))
  }

  @Test func `a chromium call is understood`() throws {
    let offer = try SessionDescription(parsing: ChromiumOffers.call)
    #expect(offer.bundles == [["0", "1", "2"]])
    #expect(offer.media.map(\.kind) == [.audio, .video, .application])
    let video = offer.media[1]
    #expect(video.allowsMixedHeaderExtensions && video.usesRTCPMux && video.allowsReducedSizeRTCP)
    #expect(video.transport.setup == .actpass && video.transport.supportsTrickle)
    #expect(video.transport.fingerprints.map(\.isSHA256) == [true])
    let vp8 = try #require(video.payload(PayloadType(96)))
    #expect(vp8.isNamed("vp8") && vp8.clockRate == 90_000)
    #expect(vp8.feedback == ["goog-remb", "transport-cc", "ccm fir", "nack", "nack pli"])
    #expect(video.retransmission(of: PayloadType(96))?.payloadType == PayloadType(97))
    #expect(video.sourceGroups.map(\.semantics) == ["FID"] && video.sources.count == 2)
    #expect(video.sources[0].cname == video.sources[1].cname && video.sources[0].cname != nil)
    #expect(video.sources[0].streamIdentifier == video.streamIdentifiers[0])
    let opus = try #require(offer.media[0].payload(PayloadType(111)))
    #expect(opus.channels == 2 && opus.parameters.number("minptime") == 10)
    #expect(offer.media[0].payload(PayloadType(63))?.parameters.text == "111/111")
    #expect(offer.media[2].sctpPort == 5000 && offer.media[2].maxMessageSize == 262_144)
    #expect(offer.media[2].formats == ["webrtc-datachannel"])
  }

  @Test func `session level sayings reach every section`() throws {
    let offer = try SessionDescription(parsing: FirefoxOffers.call)
    #expect(offer.media.allSatisfy { $0.transport.fingerprints.count == 1 && $0.transport.supportsTrickle })
    let video = offer.media[1]
    #expect(video.headerExtensions.first { $0.id == 6 }?.direction == .recvonly)
    #expect(video.transport.candidates.count == 8 && video.transport.endOfCandidates)
    #expect(video.transport.candidates.contains { $0.transport == .tcp(.active) && $0.component == 2 })
    #expect(video.parametersOf(120)?["max-fs"] == "12288")
  }

  @Test func `simulcast is kept`() throws {
    let video = try SessionDescription(parsing: ChromiumOffers.simulcast).media[2]
    #expect(video.restrictions == ["q send", "h send", "f send"] && video.simulcast == "send q;h;f")
  }

  @Test func `payload types without mapping have their assigned meaning`() throws {
    let text = "v=0\no=- 1 1 IN IP4 0.0.0.0\ns=-\nt=0 0\nm=audio 9 UDP/TLS/RTP/SAVPF 0 8 9 77\na=rtcp-fb:* nack\n"
    let audio = try SessionDescription(parsing: text).media[0]
    #expect(audio.payloads.map(\.name) == ["PCMU", "PCMA", "G722"])
    #expect(audio.payloads.allSatisfy { $0.feedback == ["nack"] })
    #expect(audio.formats == ["0", "8", "9", "77"])
  }

  @Test func `nothing an application sets can begin a line`() throws {
    var offer = try SessionDescription(parsing: HandmadeOffers.safari)
    offer.media[0].streamIdentifiers = [MediaStreamIdentifier(stream: "x\r\na=ice-lite", track: "y\nm=audio")]
    let read = try SessionDescription(parsing: offer.description)
    #expect(!read.isICELite && read.media.count == 1)
  }
}

extension MediaDescription {
  fileprivate func parametersOf(_ type: UInt8) -> FormatParameters? { payload(PayloadType(type))?.parameters }
}
