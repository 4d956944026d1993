import FeatureKit
import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct OfferAndAnswerTests {
  @Test(.feature("S1.6", "S1.8", "S3.42")) func `both ends agree on the same session`() throws {
    var caster = Peers.end("a", Peers.video(codecs: [Peers.h264, Peers.vp8]), Peers.audio())
    var viewer = Peers.end("b", Peers.audio(.recvonly), Peers.video(.recvonly, codecs: [Peers.vp8, Peers.h264]))
    try exchange(&caster, &viewer)
    let (ours, theirs) = (try #require(caster.session), try #require(viewer.session))
    #expect(ours.media.map(\.kind) == [.video, .audio] && theirs.media.map(\.kind) == [.video, .audio])
    #expect(ours.media.map(\.direction) == [.sendonly, .sendonly])
    #expect(theirs.media.map(\.direction) == [.recvonly, .recvonly])
    // The answerer's preference counts.
    #expect(ours.media[0].sendCodecs.map(\.capability.name) == ["VP8", "H264"])
    #expect(
      ours.media[0].sendCodecs.map(\.payloadType) == theirs.media[0].receiveCodecs.map(\.payloadType))
    #expect(
      ours.media[0].sendCodecs.map(\.rtxPayloadType) == theirs.media[0].receiveCodecs.map(\.rtxPayloadType))
    #expect(ours.media[0].sendCodec?.rtxPayloadType != nil)
    #expect(ours.headerExtensions == [1: Peers.mid, 2: Peers.transportCC])
    #expect(theirs.headerExtensions == ours.headerExtensions)
    #expect(ours.transport.dtlsRole == .client && theirs.transport.dtlsRole == .server)
    #expect(ours.transport.isControlling && !theirs.transport.isControlling)
    #expect(ours.transport.remoteCredentials == Peers.credentials("b"))
    #expect(theirs.transport.remoteCredentials == Peers.credentials("a"))
    #expect(theirs.media[0].remoteRetransmissionSource(of: SSRC(1_000)) == SSRC(1_001))
  }

  @Test func `an offer says what peers expect`() throws {
    var caster = Peers.end("a", Peers.video(), Peers.audio())
    let offer = try caster.createOffer()
    #expect(offer.bundles == [["0", "1"]])
    #expect(offer.media.allSatisfy { $0.transport.setup == .actpass && $0.usesRTCPMux && $0.port == 9 })
    #expect(offer.media[0].formats == ["96", "97"] && offer.media[1].formats == ["111"])
    #expect(caster.signalingState == .haveLocalOffer && caster.localDescription == offer)
  }

  @Test func `numbers are shared between sections and never given twice`() throws {
    var caster = Peers.end(
      "a", Peers.video(codecs: [Peers.vp8, Peers.h264]), Peers.video(codecs: [Peers.h264, Peers.vp8], ssrc: 5_000))
    var codec = Peers.h264
    codec.parameters = FormatParameters("packetization-mode=0;profile-level-id=42e01f")
    _ = caster.add(Peers.video(codecs: [codec]))
    let offer = try caster.createOffer()
    #expect(offer.media[0].formats == ["96", "97", "102", "103"])
    #expect(offer.media[1].formats == ["102", "103", "96", "97"])
    #expect(offer.media[2].formats == ["98", "99"])
  }

  @Test func `an answer with other payload types is sent by its numbers`() throws {
    var caster = Peers.end("a", Peers.video(.sendrecv))
    var viewer = Peers.end("b", Peers.video(.sendrecv))
    try viewer.setRemoteOffer(caster.createOffer())
    var text = try viewer.createAnswer().description
    text = text.split(separator: "\r\n").map { line in
      line.hasPrefix("m=video")
        ? "m=video 9 UDP/TLS/RTP/SAVPF 120 121"
        : line.replacing("a=rtpmap:96", with: "a=rtpmap:120").replacing("a=rtpmap:97", with: "a=rtpmap:121")
          .replacing("a=fmtp:97 apt=96", with: "a=fmtp:121 apt=120").replacing("a=rtcp-fb:96", with: "a=rtcp-fb:120")
    }.joined(separator: "\r\n")
    let session = try caster.setRemoteAnswer(SessionDescription(parsing: text))
    #expect(session.media[0].sendCodec?.payloadType == PayloadType(120))
    #expect(session.media[0].sendCodec?.rtxPayloadType == PayloadType(121))
    #expect(session.media[0].receiveCodecs[0].payloadType == PayloadType(96))
    #expect(session.media[0].receiveCodecs[0].rtxPayloadType == PayloadType(97))
  }

  @Test(.feature("S3.42")) func `steps in the wrong state are misuse`() throws {
    var caster = Peers.end("a", Peers.video())
    let answer = SessionDescription(origin: SessionDescription.Origin(sessionID: 1, version: 1))
    #expect(throws: NegotiationError.misuse(.wrongState(.stable))) { try caster.createAnswer() }
    #expect(throws: NegotiationError.misuse(.wrongState(.stable))) { try caster.setRemoteAnswer(answer) }
    #expect(throws: NegotiationError.misuse(.wrongState(.stable))) { try caster.rollback() }
    _ = try caster.createOffer()
    #expect(throws: NegotiationError.misuse(.wrongState(.haveLocalOffer))) { try caster.setRemoteOffer(answer) }
    caster.close()
    #expect(throws: NegotiationError.misuse(.wrongState(.closed))) { try caster.createOffer() }
    var empty = Peers.end("e")
    #expect(throws: NegotiationError.misuse(.nothingToOffer)) { try empty.createOffer() }
  }

  @Test func `when both offer the polite one rolls back`() throws {
    var polite = Peers.end("p", Peers.video(.sendrecv))
    var impolite = Peers.end("i", Peers.video(.sendrecv))
    _ = try polite.createOffer()
    let offer = try impolite.createOffer()
    try polite.rollback()
    #expect(polite.signalingState == .stable && polite.session == nil)
    try polite.setRemoteOffer(offer)
    try impolite.setRemoteAnswer(polite.createAnswer())
    #expect(polite.session?.media[0].direction == .sendrecv)
    #expect(impolite.session?.transport.isControlling == true)
  }

  @Test func `a lite peer is controlled whoever offers`() throws {
    var caster = Peers.end("a", Peers.video())
    var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
    offer.isICELite = true
    try caster.setRemoteOffer(offer)
    _ = try caster.createAnswer()
    #expect(caster.session?.transport.isControlling == true && caster.session?.transport.remoteIsLite == true)
  }
}
