import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct AnsweringRealOffersTests {
  private func answer(
    _ text: String, _ end: Negotiation
  ) throws -> (answer: SessionDescription, session: NegotiatedSession) {
    var end = end
    try end.setRemoteOffer(SessionDescription(parsing: text))
    let answer = try SessionDescription(parsing: end.createAnswer().description)
    #expect(end.signalingState == .stable)
    return (answer, try #require(end.session))
  }

  @Test func `a chromium viewer gets video only`() throws {
    let (answer, session) = try answer(ChromiumOffers.receiver, Peers.end("c", Peers.video()))
    #expect(answer.bundles == [["0"]])
    let video = answer.media[0]
    #expect(video.formats == ["96", "97"] && video.direction == .sendonly && video.port == 9)
    #expect(video.transport.setup == .passive && video.transport.supportsTrickle)
    #expect(video.connection == "IN IP4 0.0.0.0" && video.rtcp == "9 IN IP4 0.0.0.0")
    #expect(video.usesRTCPMux && video.allowsReducedSizeRTCP && video.allowsMixedHeaderExtensions)
    #expect(video.sourceGroups == [MediaSourceGroup(semantics: "FID", sources: [SSRC(1_000), SSRC(1_001)])])
    #expect(video.sources.allSatisfy { $0.cname == "cname-c" })
    #expect(video.streamIdentifiers == [MediaStreamIdentifier(stream: "screen", track: "video")])
    #expect(video.headerExtensions.map(\.id) == [4, 5, 9])
    let audio = answer.media[1]
    #expect(audio.isRejected && audio.mid == "1" && audio.direction == .inactive && !audio.formats.isEmpty)
    // aiortc takes no answer in which a section lacks these, be it rejected.
    #expect(audio.transport.credentials == video.transport.credentials && audio.transport.setup == .passive)
    #expect(audio.transport.fingerprints == video.transport.fingerprints && audio.usesRTCPMux)
    #expect(audio.payloads.contains { $0.name.lowercased() == "opus" })
    #expect(audio.transport.candidates.isEmpty && audio.transport.endOfCandidates)
    #expect(answer.description.contains("a=msid-semantic: WMS *\r\n"))

    let media = session.media[0]
    #expect(media.direction == .sendonly && media.receiveCodecs.isEmpty)
    #expect(media.sendCodec?.payloadType == PayloadType(96) && media.sendCodec?.rtxPayloadType == PayloadType(97))
    #expect(media.sendCodec?.feedback == [.nack, .pli, .fir, .transportCC, .remb])
    #expect(session.headerExtensions == [4: Peers.transportCC, 5: Peers.playoutDelay, 9: Peers.mid])
    #expect(session.rejected.map(\.reason) == [.noTransceiver])
    #expect(session.transport.dtlsRole == .server && !session.transport.isControlling)
    #expect(session.transport.remoteTrickles && session.transport.remoteCandidates.count == 2)
    #expect(session.transport.tag == MediaReference(index: 0, mid: "0"))
  }

  @Test func `a call is answered both ways without its data channel`() throws {
    for text in [ChromiumOffers.call, FirefoxOffers.call, AiortcOffers.call] {
      let end = Peers.end("c", Peers.video(.sendrecv), Peers.audio(.sendrecv))
      let (answer, session) = try answer(text, end)
      #expect(answer.bundles == [["0", "1"]])
      #expect(answer.media.map(\.isRejected) == [false, false, true])
      #expect(answer.media[2].formats == ["webrtc-datachannel"] && answer.media[2].proto == "UDP/DTLS/SCTP")
      #expect(session.media.map(\.direction) == [.sendrecv, .sendrecv])
      #expect(session.media.map(\.kind) == [.audio, .video])
      #expect(session.rejected.map(\.reason) == [.unsupportedKind])
      let video = session.media[1]
      let repair = try #require(video.remoteRetransmissionSource(of: video.remoteSources[0].ssrc))
      #expect(video.remoteSources.contains { $0.ssrc == repair && $0.cname != nil })
      #expect(video.receiveCodecs.map(\.payloadType) == video.sendCodecs.map(\.payloadType))
      #expect(session.transport.remoteCandidates.allSatisfy { $0.component == 1 })
      #expect(!session.transport.remoteCandidates.isEmpty)
    }
  }

  @Test func `directions of header extensions are turned around`() throws {
    let (answer, session) = try answer(FirefoxOffers.receiver, Peers.end("c", Peers.video()))
    // Firefox wants to receive playout delays only, which is what we want to send.
    #expect(answer.media[0].headerExtensions.first { $0.id == 6 }?.direction == .sendonly)
    #expect(session.media[0].headerExtensions.first { $0.id == 6 }?.direction == .sendonly)
    #expect(session.media[0].sendCodec?.payloadType == PayloadType(120))
    #expect(session.media[0].sendCodec?.parameters.number("max-fr") == 60)
  }

  @Test func `our preference chooses under their numbers`() throws {
    let both = Peers.end("c", Peers.video(codecs: [Peers.vp8, Peers.h264]))
    let (first, session) = try answer(HandmadeOffers.safari, both)
    #expect(first.media[0].formats == ["100", "101", "98", "99"])
    #expect(session.media[0].sendCodecs.map(\.capability.name) == ["VP8", "H264"])
    let (other, _) = try answer(HandmadeOffers.safari, Peers.end("c", Peers.video(codecs: [Peers.h264, Peers.vp8])))
    #expect(other.media[0].formats == ["98", "99", "100", "101"])
    #expect(other.media[0].payloads[0].feedback == ["nack", "nack pli"])
  }

  @Test func `bundle only sections are not turned off`() throws {
    let (answer, session) = try answer(HandmadeOffers.webrtcbin, Peers.end("c", Peers.video(), Peers.audio()))
    #expect(answer.media.map(\.port) == [9, 9] && answer.bundles == [["video0", "audio1"]])
    #expect(session.media.map(\.reference.mid) == ["video0", "audio1"])
    // Only the audio is taken: its transport is what the bundle's first section says.
    let (audio, alone) = try self.answer(HandmadeOffers.webrtcbin, Peers.end("c", Peers.audio()))
    #expect(audio.bundles == [["audio1"]] && alone.transport.tag.index == 1)
    #expect(alone.transport.remoteCredentials.usernameFragment == "WxPvBb+D/0ohFCcdZeBfPMvWJ/yMyS30")
  }

  @Test func `mixed header extensions are answered only when offered`() throws {
    let (mixed, _) = try answer(ChromiumOffers.receiver, Peers.end("c", Peers.video()))
    let (plain, _) = try answer(AiortcOffers.receiver, Peers.end("c", Peers.video()))
    #expect(mixed.description.contains("extmap-allow-mixed"))
    #expect(!plain.description.contains("extmap-allow-mixed"))
  }

  @Test func `known candidates go into the answer`() throws {
    var end = Peers.end("c", Peers.video())
    end.transport.candidates = [
      CandidateDescription(
        foundation: "1", priority: 1, address: .ip(.loopbackV4), port: 5_000, kind: .host)
    ]
    end.transport.endOfCandidates = true
    let (answer, _) = try answer(ChromiumOffers.receiver, end)
    #expect(answer.media[0].transport.candidates == end.transport.candidates)
    #expect(answer.media[0].transport.endOfCandidates)
    #expect(answer.media[1].transport.candidates.isEmpty)
  }

  @Test func `nothing in common says why for each section`() throws {
    let vp10 = CodecCapability(name: "VP10", clockRate: 90_000)
    var end = Peers.end("c", Peers.video(codecs: [vp10]))
    try end.setRemoteOffer(SessionDescription(parsing: ChromiumOffers.call))
    #expect(
      throws: NegotiationError.nothingAccepted([
        Rejection(media: MediaReference(index: 0, mid: "0"), reason: .noTransceiver),
        Rejection(media: MediaReference(index: 1, mid: "1"), reason: .noCommonCodec),
        Rejection(media: MediaReference(index: 2, mid: "2"), reason: .unsupportedKind),
      ])
    ) { try end.createAnswer() }
    #expect(end.signalingState == .haveRemoteOffer)
  }
}
