import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct RenegotiationTests {
  @Test func `new media is appended and old keeps its place`() throws {
    var caster = Peers.end("a", Peers.video())
    var viewer = Peers.end("b", Peers.video(.recvonly), Peers.audio(.recvonly))
    try exchange(&caster, &viewer)
    let first = try #require(caster.session)
    // The viewer's audio went unused: now it offers it itself.
    try exchange(&viewer, &caster)
    #expect(caster.remoteDescription?.media.count == 2)
    #expect(caster.session?.media == first.media && caster.session?.rejected.count == 1)
    _ = caster.add(Peers.audio())
    try exchange(&caster, &viewer)
    let session = try #require(viewer.session)
    #expect(session.media.map(\.kind).first == .video)
    #expect(caster.session?.media[0] == first.media[0])
    #expect(caster.session?.transport.restartsICE == false)
    #expect(caster.session?.transport.dtlsRole == first.transport.dtlsRole)
    #expect(caster.session?.transport.isControlling == true)
  }

  @Test func `versions rise and numbers stay`() throws {
    var caster = Peers.end("a", Peers.video(codecs: [Peers.vp8]))
    var viewer = Peers.end("b", Peers.video(.recvonly))
    try exchange(&caster, &viewer)
    let first = try #require(caster.localDescription)
    try exchange(&caster, &viewer)
    let second = try #require(caster.localDescription)
    #expect(second.origin.version == first.origin.version + 1 && second.origin.sessionID == first.origin.sessionID)
    #expect(second.media[0].payloads == first.media[0].payloads)
    #expect(second.media[0].headerExtensions == first.media[0].headerExtensions)
  }

  @Test func `after answering our offers keep the peer's numbers`() throws {
    var caster = Peers.end("a", Peers.video(codecs: [Peers.vp8, Peers.h264]))
    try caster.setRemoteOffer(SessionDescription(parsing: FirefoxOffers.receiver))
    _ = try caster.createAnswer()
    let offer = try caster.createOffer()
    // VP8 as Firefox numbered it; H.264, which Firefox did not have, gets a number that Firefox did not use.
    #expect(offer.media[0].formats == ["120", "124", "102", "103"])
    #expect(offer.media[0].headerExtensions.map(\.id) == [3, 7, 6])
    #expect(offer.media[1].isRejected && offer.media.count == 2)
  }

  @Test func `a stopped section is turned off and used again`() throws {
    var caster = Peers.end("a", Peers.audio())
    let video = caster.add(Peers.video())
    var viewer = Peers.end("b", Peers.audio(.recvonly), Peers.video(.recvonly))
    try exchange(&caster, &viewer)
    caster.stop(video)
    try exchange(&caster, &viewer)
    #expect(caster.localDescription?.media.map(\.port) == [9, 0])
    #expect(caster.localDescription?.bundles == [["0"]])
    #expect(viewer.session?.media.map(\.kind) == [.audio])
    _ = caster.add(Peers.video(ssrc: 9_000))
    _ = viewer.add(Peers.video(.recvonly))
    try exchange(&caster, &viewer)
    #expect(caster.localDescription?.media.compactMap(\.mid) == ["0", "2"])
    #expect(viewer.session?.media.map(\.kind) == [.audio, .video])
    #expect(viewer.session?.media[1].remoteSources.first?.ssrc == SSRC(9_000))
  }

  @Test func `a peer may turn everything off`() throws {
    var caster = Peers.end("a", Peers.video())
    var offer = try SessionDescription(parsing: HandmadeOffers.safari)
    try caster.setRemoteOffer(offer)
    _ = try caster.createAnswer()
    offer.media[0].port = 0
    offer.bundles = []
    try caster.setRemoteOffer(offer)
    let answer = try caster.createAnswer()
    #expect(answer.media[0].isRejected && answer.bundles.isEmpty)
    #expect(caster.session?.media.isEmpty == true)
  }

  @Test func `changed credentials of the peer restart ICE`() throws {
    var caster = Peers.end("a", Peers.video())
    var viewer = Peers.end("b", Peers.video(.recvonly))
    try exchange(&viewer, &caster)
    viewer.transport.credentials = Peers.credentials("n")
    try caster.setRemoteOffer(viewer.createOffer())
    #expect(caster.remoteRestartsICE)
    #expect(throws: NegotiationError.misuse(.freshCredentialsNeeded)) { try caster.createAnswer() }
    caster.transport.credentials = Peers.credentials("m")
    try viewer.setRemoteAnswer(caster.createAnswer())
    #expect(caster.session?.transport.restartsICE == true && viewer.session?.transport.restartsICE == true)
    #expect(caster.session?.transport.remoteCredentials == Peers.credentials("n"))
    #expect(viewer.session?.transport.remoteCredentials == Peers.credentials("m"))
    #expect(viewer.session?.transport.localCredentials == Peers.credentials("n"))
  }

  @Test func `a direction change is renegotiated`() throws {
    var caster = Peers.end("a")
    let video = caster.add(Peers.video(.sendrecv))
    var viewer = Peers.end("b", Peers.video(.sendrecv))
    try exchange(&caster, &viewer)
    caster[video].direction = .recvonly
    try exchange(&viewer, &caster)
    #expect(caster.session?.media[0].direction == .recvonly)
    #expect(viewer.session?.media[0].direction == .sendonly)
    #expect(caster.localDescription?.media[0].sources.isEmpty == true)
  }

  @Test func `rolling back keeps the session`() throws {
    var caster = Peers.end("a", Peers.video())
    var viewer = Peers.end("b", Peers.video(.recvonly))
    try exchange(&caster, &viewer)
    let session = caster.session
    try caster.setRemoteOffer(viewer.createOffer())
    try caster.rollback()
    #expect(caster.session == session && caster.signalingState == .stable)
    _ = try caster.createOffer()
    try caster.rollback()
    #expect(caster.session == session)
  }

  @Test func `places may not change`() throws {
    var caster = Peers.end("a", Peers.video())
    try caster.setRemoteOffer(SessionDescription(parsing: ChromiumOffers.receiver))
    _ = try caster.createAnswer()
    var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
    offer.media.swapAt(0, 1)
    #expect(throws: NegotiationError.peer(.sectionChanged, MediaReference(index: 0, mid: "1"))) {
      try caster.setRemoteOffer(offer)
    }
    offer.media.removeLast()
    offer.bundles = [["1"]]
    #expect(throws: NegotiationError.peer(.sectionCount(expected: 2, got: 1))) { try caster.setRemoteOffer(offer) }
  }
}
