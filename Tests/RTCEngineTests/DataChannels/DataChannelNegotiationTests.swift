import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

@Suite struct DataChannelNegotiationTests {
  private func end(_ letter: Character, _ media: LocalTransceiver..., wants: Bool = false) -> Negotiation {
    var end = Peers.end(letter)
    for item in media { _ = end.add(item) }
    end.dataChannels = LocalDataChannels(maximumMessageSize: 262_144, isWanted: wants)
    return end
  }

  @Test func `channels have their section in the bundle, after the media`() throws {
    var caller = end("a", Peers.video(.sendrecv), wants: true)
    var callee = end("b", Peers.video(.sendrecv))
    #expect(caller.needsDataChannelSection && !callee.needsDataChannelSection)
    try exchange(&caller, &callee)
    let offer = try #require(caller.localDescription)
    #expect(offer.bundles == [["0", "1"]])
    let text = offer.description
    #expect(text.contains("m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n"))
    #expect(text.contains("a=sctp-port:5000\r\n") && text.contains("a=max-message-size:262144\r\n"))
    for session in [caller.session, callee.session] {
      let channels = try #require(session?.dataChannels)
      #expect(channels.reference == MediaReference(index: 1, mid: "1"))
      #expect(channels.remotePort == 5000 && channels.remoteMaximumMessageSize == 262_144)
      #expect(session?.media.count == 1)
    }
    #expect(!caller.needsDataChannelSection)
  }

  @Test func `channels alone make a session`() throws {
    var caller = end("a", wants: true)
    var callee = end("b")
    try exchange(&caller, &callee)
    #expect(caller.session?.dataChannels != nil && callee.session?.dataChannels != nil)
    #expect(caller.session?.transport.tag == MediaReference(index: 0, mid: "0"))
    #expect(callee.localDescription?.bundles == [["0"]])
  }

  @Test func `channels may join later, from either side, and media may join channels`() throws {
    var caller = end("a", Peers.video(.sendrecv))
    var callee = end("b", Peers.video(.sendrecv))
    try exchange(&caller, &callee)
    callee.dataChannels?.isWanted = true
    #expect(callee.needsDataChannelSection)
    try exchange(&callee, &caller)
    #expect(caller.session?.dataChannels?.reference.index == 1)
    _ = caller.add(Peers.audio(.sendrecv))
    _ = callee.add(Peers.audio(.sendrecv))
    try exchange(&caller, &callee)
    #expect(caller.localDescription?.media.map(\.kind) == [.video, .application, .audio])
    #expect(callee.session?.media.count == 2 && callee.session?.dataChannels != nil)
    #expect(callee.localDescription?.bundles == [["0", "1", "2"]])
  }

  @Test func `one that takes none rejects the section and keeps the media`() throws {
    var caller = end("a", Peers.video(.sendrecv), wants: true)
    var callee = Peers.end("b", Peers.video(.sendrecv))
    try exchange(&caller, &callee)
    #expect(callee.session?.rejected.map(\.reason) == [.unsupportedKind])
    #expect(caller.session?.dataChannels == nil && caller.session?.turnsOffDataChannels == true)
    // Asked for once and refused: not offered again of itself.
    #expect(!caller.needsDataChannelSection)
    #expect(try caller.createOffer().media[1].isRejected)
  }

  @Test func `a section that was turned off is used again`() throws {
    var caller = end("a", Peers.video(.sendrecv), wants: true)
    var callee = end("b", Peers.video(.sendrecv))
    try exchange(&caller, &callee)
    caller.dataChannels = nil
    try exchange(&caller, &callee)
    #expect(callee.session?.dataChannels == nil && callee.session?.turnsOffDataChannels == true)
    caller.dataChannels = LocalDataChannels(maximumMessageSize: 1_000, isWanted: true)
    try exchange(&caller, &callee)
    #expect(callee.session?.dataChannels?.reference.index == 1)
    #expect(callee.session?.dataChannels?.remoteMaximumMessageSize == 1_000)
  }

  @Test func `the form of before RFC 8841 is answered in kind`() throws {
    var caller = end("a", wants: true)
    var offer = try caller.createOffer().description
    offer = offer.replacing("UDP/DTLS/SCTP webrtc-datachannel", with: "DTLS/SCTP 5001")
      .replacing("a=sctp-port:5000", with: "a=sctpmap:5001 webrtc-datachannel 256")
      .replacing("a=max-message-size:262144\r\n", with: "")
    var callee = end("b")
    try callee.setRemoteOffer(SessionDescription(parsing: offer))
    let answer = try callee.createAnswer().description
    #expect(answer.contains("m=application 9 DTLS/SCTP 5000\r\n"))
    #expect(answer.contains("a=sctpmap:5000 webrtc-datachannel 1024\r\n"))
    #expect(callee.session?.dataChannels?.remotePort == 5001)
    #expect(callee.session?.dataChannels?.remoteMaximumMessageSize == 65_536)
    let session = try caller.setRemoteAnswer(SessionDescription(parsing: answer))
    #expect(session.dataChannels?.remotePort == 5000)
  }

  @Test func `a second section, another protocol and one outside the bundle are rejected`() throws {
    var caller = end("a", Peers.video(.sendrecv), wants: true)
    let offer = try caller.createOffer()
    var twice = offer
    var second = offer.media[1]
    second.mid = "x"
    twice.media.append(second)
    twice.bundles = [["0", "1", "x"]]
    var callee = end("b", Peers.video(.sendrecv))
    try callee.setRemoteOffer(twice)
    _ = try callee.createAnswer()
    #expect(callee.session?.rejected.map(\.reason) == [.noTransceiver])
    var other = offer
    other.media[1].proto = "UDP/BFCP"
    callee = end("b", Peers.video(.sendrecv))
    try callee.setRemoteOffer(other)
    _ = try callee.createAnswer()
    #expect(callee.session?.rejected.map(\.reason) == [.unsupportedProtocol])
    var alone = offer
    alone.bundles = [["0"]]
    callee = end("b", Peers.video(.sendrecv))
    try callee.setRemoteOffer(alone)
    _ = try callee.createAnswer()
    #expect(callee.session?.rejected.map(\.reason) == [.outsideBundle])
  }

  @Test func `an answer that makes something else of the section is the peer's fault`() throws {
    var caller = end("a", wants: true)
    var callee = end("b")
    try callee.setRemoteOffer(caller.createOffer())
    var answer = try callee.createAnswer()
    answer.media[0].proto = "UDP/BFCP"
    #expect(throws: NegotiationError.peer(.noDataChannels, MediaReference(index: 0, mid: "0"))) {
      try caller.setRemoteAnswer(answer)
    }
  }
}
