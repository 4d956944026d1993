import RTCDTLS
import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import SDPKit
import Testing

@Suite struct RefusedDescriptions {
  /// A call in which the offerer's next offer is changed on its way; what came of it.
  private func afterOffer(_ change: (inout SessionDescription) throws -> Void) throws -> PeerPair {
    let pair = try PeerPair.inCall()
    let id = try #require(pair.offerer.first(.audio))
    pair.offerer.audioSources[id] = SyntheticAudio(from: pair.now)
    pair.run(for: .seconds(1))
    let sections = try SessionDescription(parsing: #require(pair.offerer.localDescription)).media.count
    #expect(sections == 1)
    var offer = try SessionDescription(parsing: #require(pair.offerer.localDescription))
    offer.origin.version += 1
    try change(&offer)
    let description = Description(kind: .offer, sdp: offer.description)
    pair.perform(.answerer, .negotiate(description, .polite, pair.freshCredentials()))
    let heard = pair.answerer.audio.count
    pair.run(for: .seconds(2))
    #expect(pair.areConnected && pair.answerer.audio.count > heard + 90)
    #expect(pair.answerer.peer.signalingState == .stable)
    return pair
  }

  @Test func `another certificate in the middle of a call is refused, and the call goes on`() throws {
    let other = try DTLSCertificate().fingerprint.bytes
    let pair = try afterOffer { offer in
      for index in offer.media.indices {
        offer.media[index].transport.fingerprints = [CertificateFingerprint(algorithm: "sha-256", bytes: other)]
      }
    }
    #expect(pair.answerer.failures.map(\.kind) == [.unsupported])
    #expect(pair.answerer.failures[0].sentence.contains("fingerprint"))
    #expect(pair.answerer.tracksRemoved.isEmpty)
  }

  @Test func `a certificate that is only added to, or said again, is no change`() throws {
    let pair = try afterOffer { offer in
      for index in offer.media.indices {
        offer.media[index].transport.fingerprints.append(
          CertificateFingerprint(algorithm: "sha-512", bytes: Array(repeating: 7, count: 64)))
      }
    }
    #expect(pair.answerer.failures.isEmpty)
  }

  @Test func `an answer with another certificate is refused, and the offer stays pending`() throws {
    let pair = try PeerPair.inCall()
    let good = try #require(pair.answerer.localDescription)
    var answer = try SessionDescription(parsing: good)
    for index in answer.media.indices {
      answer.media[index].transport.fingerprints[0].bytes = Array(repeating: 1, count: 32)
      answer.media[index].transport.setup = .active
    }
    let offer = Description(kind: .answer, sdp: answer.description)
    pair.signalingIsCut()
    pair.perform(.offerer, .setLocalDescription(pair.freshCredentials()))
    pair.perform(.offerer, .setRemoteDescription(offer))
    #expect(pair.offerer.failures.map(\.kind) == [.unsupported])
    #expect(pair.offerer.peer.signalingState == .haveLocalOffer)
    pair.perform(.offerer, .rollback)
    pair.run(for: .seconds(1))
    #expect(pair.areConnected && pair.offerer.failures.count == 1)
  }

  @Test func `an offer that leaves out an m-section, or puts another in its place, is refused`() throws {
    #expect(
      try afterOffer {
        $0.media = []
        $0.bundles = []
      }.answerer.failures.map(\.kind) == [.malformed])
    #expect(
      try afterOffer {
        $0.media[0].mid = "other"
        $0.bundles = [["other"]]
      }.answerer.failures.map(\.kind) == [.malformed])
    #expect(
      try afterOffer {
        $0.media[0].kind = .video
      }.answerer.failures.map(\.kind) == [.malformed])
  }

  @Test(arguments: ["", "v=0", "hello\r\n", String(repeating: "v=0\r\n", count: 10_000)])
  func `what cannot be read is refused`(_ text: String) throws {
    let pair = try PeerPair.inCall()
    for kind in [Description.Kind.offer, .answer] {
      pair.perform(.answerer, .setRemoteDescription(Description(kind: kind, sdp: text)))
    }
    #expect(pair.answerer.failures.count == 2 && pair.areAgreed)
    for candidate in ["candidate:", "nonsense", "candidate:1 1 udp 1 1.2.3.4 99999 typ host"] {
      pair.perform(.answerer, .addRemoteCandidate(ICECandidateInit(candidate: candidate)))
    }
    #expect(pair.answerer.failures.count == 5)
    pair.perform(.answerer, .addRemoteCandidate(ICECandidateInit(candidate: "")))
    #expect(pair.answerer.failures.count == 5)
    pair.run(for: .seconds(1))
    #expect(pair.areConnected)
  }

  @Test func `an offer that is never answered leaves the call as it is`() throws {
    let pair = try PeerPair.inCall()
    pair.signalingIsCut()
    pair.addTrack(.video, "screen", on: .offerer)
    pair.perform(.offerer, .setLocalDescription(pair.freshCredentials()))
    pair.run(for: .seconds(60))
    #expect(pair.areConnected && pair.offerer.peer.signalingState == .haveLocalOffer)
  }

  @Test func `the codec is blamed only where it is the cause`() throws {
    let whole = try SessionDescription(parsing: ChromiumOffers.call)
    func failure(_ change: (inout MediaDescription) -> Void) throws -> NegotiationFailure? {
      var offer = whole
      for index in offer.media.indices { change(&offer.media[index]) }
      let pair = try PeerPair()
      pair.perform(.answerer, .acceptOffer(offer.description))
      return pair.answerer.failures.first
    }
    #expect(try failure { $0.payloads = [] }?.kind == .noCommonCodec)
    let unmultiplexed = try #require(try failure { $0.usesRTCPMux = false })
    #expect(unmultiplexed.kind == .unsupported && unmultiplexed.sentence.contains("has no rtcp-mux"))
    let closed = try #require(try failure { $0.port = 0 })
    #expect(closed.kind == .unsupported && closed.sentence.contains("turned off"))
  }
}
