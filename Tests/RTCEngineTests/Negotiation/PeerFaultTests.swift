import RTCEngine
import RTCPrimitives
import RTCWire
import SDPKit
import Testing

@Suite struct PeerFaultTests {
  private let first = MediaReference(index: 0, mid: "0")

  private func failure(offer change: (inout SessionDescription) -> Void) throws -> NegotiationError? {
    var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
    change(&offer)
    var end = Peers.end("c", Peers.video(), Peers.audio())
    do {
      try end.setRemoteOffer(offer)
      _ = try end.createAnswer()
      return nil
    } catch { return error }
  }

  private func failure(answer change: (inout SessionDescription) -> Void) throws -> NegotiationError? {
    var offerer = Peers.end("o", Peers.video(), Peers.audio())
    var answerer = Peers.end("a", Peers.video(.recvonly), Peers.audio(.recvonly))
    try answerer.setRemoteOffer(offerer.createOffer())
    var answer = try answerer.createAnswer()
    change(&answer)
    do {
      try offerer.setRemoteAnswer(answer)
      return nil
    } catch {
      #expect(offerer.signalingState == .haveLocalOffer)
      return error
    }
  }

  @Test func `offers without what the transport needs are refused`() throws {
    #expect(try failure(offer: { _ in }) == nil)
    #expect(
      try failure(offer: { $0.media[0].transport.usernameFragment = nil }) == .peer(.missingICECredentials, first))
    #expect(try failure(offer: { $0.media[0].transport.fingerprints = [] }) == .peer(.missingFingerprint, first))
    #expect(
      try failure(offer: { $0.media[0].transport.fingerprints[0].algorithm = "sha-1" })
        == .peer(.unsupportedFingerprint, first))
    // The bytes of SHA-256 under another name, and enough of them.
    #expect(
      try failure(offer: { $0.media[0].transport.fingerprints[0].algorithm = "sha-384" })
        == .peer(.unsupportedFingerprint, first))
    for (algorithm, count) in [("sha-384", 48), ("sha-512", 64)] {
      let fingerprint = CertificateFingerprint(algorithm: algorithm, bytes: [UInt8](repeating: 7, count: count))
      #expect(try failure(offer: { $0.media[0].transport.fingerprints = [fingerprint] }) == nil)
    }
    #expect(try failure(offer: { $0.media[0].transport.setup = .holdconn }) == .peer(.invalidSetup, first))
    #expect(try failure(offer: { $0.media[0].transport.setup = nil }) == nil)
  }

  @Test func `broken bundles are refused`() throws {
    #expect(try failure(offer: { $0.bundles = [["0", "9"]] }) == .peer(.unknownBundleMid("9")))
    #expect(try failure(offer: { $0.bundles = [["0"], ["1", "0"]] }) == .peer(.midBundledTwice("0")))
    #expect(try failure(answer: { $0.bundles = [["0", "x"]] }) == .peer(.unknownBundleMid("x")))
    #expect(
      try failure(answer: { $0.bundles = [["0"]] }) == .peer(.notBundled, MediaReference(index: 1, mid: "1")))
    #expect(try failure(answer: { $0.bundles = [] }) == .peer(.notBundled, first))
  }

  @Test func `what is outside the bundle is turned off`() throws {
    for bundles in [[], [["0"]]] {
      var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
      offer.bundles = bundles
      var end = Peers.end("c", Peers.video(), Peers.audio())
      try end.setRemoteOffer(offer)
      let answer = try end.createAnswer()
      #expect(answer.media.map(\.isRejected) == [false, true] && answer.bundles == bundles)
      #expect(end.session?.rejected.map(\.reason) == [.outsideBundle])
    }
  }

  @Test func `sections without mids are answered without mids`() throws {
    var offer = try SessionDescription(parsing: HandmadeOffers.safari)
    offer.media[0].mid = nil
    offer.bundles = []
    var end = Peers.end("c", Peers.video())
    try end.setRemoteOffer(offer)
    let answer = try end.createAnswer()
    #expect(answer.media[0].mid == nil && !answer.media[0].isRejected && answer.bundles.isEmpty)
  }

  @Test func `without rtcp-mux an offered section is turned off`() throws {
    #expect(
      try failure(offer: { for index in $0.media.indices { $0.media[index].usesRTCPMux = false } })
        == .nothingAccepted([
          Rejection(media: first, reason: .noRTCPMux),
          Rejection(media: MediaReference(index: 1, mid: "1"), reason: .noRTCPMux),
        ]))
  }

  @Test func `offers without media are refused`() throws {
    #expect(
      try failure(offer: {
        $0.media = []
        $0.bundles = []
      }) == .nothingAccepted([]))
    #expect(
      try failure(offer: { for index in $0.media.indices { $0.media[index].proto = "RTP/AVP" } })
        == .nothingAccepted([
          Rejection(media: first, reason: .unsupportedProtocol),
          Rejection(media: MediaReference(index: 1, mid: "1"), reason: .unsupportedProtocol),
        ]))
  }

  @Test func `answers must fit the offer`() throws {
    #expect(try failure(answer: { _ in }) == nil)
    #expect(try failure(answer: { $0.media.removeLast() }) == .peer(.sectionCount(expected: 2, got: 1)))
    #expect(try failure(answer: { $0.media.append($0.media[0]) }) == .peer(.sectionCount(expected: 2, got: 3)))
    #expect(try failure(answer: { $0.media.swapAt(0, 1) }) == .peer(.sectionChanged, first))
    #expect(try failure(answer: { $0.media[0].usesRTCPMux = false }) == .peer(.missingRTCPMux, first))
    #expect(try failure(answer: { $0.media[0].payloads = [] }) == .peer(.noCommonCodec, first))
    #expect(try failure(answer: { $0.media[0].transport.setup = .actpass }) == .peer(.invalidSetup, first))
    #expect(try failure(answer: { $0.media[0].transport.password = nil }) == .peer(.missingICECredentials, first))
    #expect(
      try failure(answer: { for index in $0.media.indices { $0.media[index].port = 0 } })
        == .nothingAccepted([
          Rejection(media: first, reason: .turnedOffByPeer),
          Rejection(media: MediaReference(index: 1, mid: "1"), reason: .turnedOffByPeer),
        ]))
  }

  @Test func `a live association keeps its roles`() throws {
    var end = Peers.end("c", Peers.video())
    var offer = try SessionDescription(parsing: HandmadeOffers.safari)
    try end.setRemoteOffer(offer)
    _ = try end.createAnswer()
    offer.media[0].transport.setup = .passive
    try end.setRemoteOffer(offer)
    #expect(throws: NegotiationError.peer(.dtlsRoleChanged, first)) { try end.createAnswer() }
  }

  @Test func `huge offers cost little`() throws {
    var offer = try SessionDescription(parsing: ChromiumOffers.receiver)
    let section = offer.media[0]
    for index in 2..<64 {
      offer.media.append(section)
      offer.media[index].mid = "\(index)"
    }
    offer.bundles = [offer.media.compactMap(\.mid)]
    var end = Peers.end("c", Peers.video(), Peers.audio())
    try end.setRemoteOffer(offer)
    #expect(try end.createAnswer().media.filter { !$0.isRejected }.count == 2)
  }
}
