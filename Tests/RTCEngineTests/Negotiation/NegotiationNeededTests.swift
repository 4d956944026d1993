import RTCEngine
import RTCPrimitives
import RTCWire
import Testing

/// "Check if negotiation is needed", W3C WebRTC §4.7.3.
@Suite struct NegotiationNeeded {
  /// Two ends that have agreed on a video and a sound, both ways; the first has offered.
  private func agreed() throws -> (ours: Negotiation, theirs: Negotiation, video: TransceiverID) {
    var ours = Peers.end("a")
    let video = ours.add(Peers.video(.sendrecv), for: .track)
    _ = ours.add(Peers.audio(.sendrecv), for: .track)
    var theirs = Peers.end("b")
    _ = theirs.add(Peers.video(.sendrecv), for: .track)
    _ = theirs.add(Peers.audio(.sendrecv), for: .track)
    #expect(ours.isNegotiationNeeded && theirs.isNegotiationNeeded)
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
    return (ours, theirs, video)
  }

  @Test func `not without transceivers`() {
    #expect(!Peers.end("a").isNegotiationNeeded)
  }

  @Test func `for a new transceiver until it is agreed`() throws {
    var (ours, theirs, _) = try agreed()
    _ = ours.add(Peers.audio(.inactive, ssrc: 77))
    #expect(ours.isNegotiationNeeded)
    _ = theirs.add(Peers.audio(.inactive, ssrc: 78))
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
  }

  @Test func `for a direction that is not agreed`() throws {
    var (ours, theirs, video) = try agreed()
    ours[video].direction = .recvonly
    #expect(ours.isNegotiationNeeded)
    ours[video].direction = .sendrecv
    #expect(!ours.isNegotiationNeeded)
    ours[video].direction = .inactive
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
    // The far side still wants it; ours does not, which needs no further word.
    try exchange(&theirs, &ours)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
    ours[video].direction = .sendrecv
    #expect(ours.isNegotiationNeeded)
  }

  @Test func `for a stopped transceiver until its section is turned off`() throws {
    var (ours, theirs, video) = try agreed()
    ours.stop(video)
    #expect(ours.isNegotiationNeeded)
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
    // One that was never offered leaves nothing to say.
    ours.stop(ours.add(Peers.audio(ssrc: 99)))
    #expect(!ours.isNegotiationNeeded)
  }

  @Test func `for another name of what is sent`() throws {
    var (ours, theirs, video) = try agreed()
    ours[video].track?.streamID = "other"
    #expect(ours.isNegotiationNeeded)
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded)
    #expect(theirs.remoteTracks.first { $0.kind == .video }?.streamIDs == ["other"])
  }

  @Test func `for an ICE restart until it is done`() throws {
    var (ours, theirs, _) = try agreed()
    ours.transport.credentials = Peers.credentials("n")
    #expect(ours.isNegotiationNeeded)
    theirs.transport.credentials = Peers.credentials("m")
    try exchange(&ours, &theirs)
    #expect(!ours.isNegotiationNeeded && !theirs.isNegotiationNeeded)
  }

  @Test func `not while anything is pending`() throws {
    var (ours, theirs, video) = try agreed()
    ours[video].direction = .recvonly
    try ours.setRemoteOffer(theirs.createOffer())
    #expect(!ours.isNegotiationNeeded)
    try ours.rollback()
    #expect(ours.isNegotiationNeeded)
  }
}
