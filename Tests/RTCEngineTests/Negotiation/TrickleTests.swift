import FeatureKit
import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import SDPKit
import Testing

/// All our candidates are in our descriptions, which say so; far sides may send theirs one by one (RFC 8838, RFC 8840).
@Suite struct TrickleTests {
  /// Descriptions as they leave, by the side that made them.
  private func descriptions(_ pair: PeerPair) throws -> [SessionDescription] {
    pair.exchangeDescriptions()
    return try [pair.offerer, pair.answerer].map { try SessionDescription(parsing: #require($0.localDescription)) }
  }

  private func checkWhole(_ description: SessionDescription) throws {
    let live = description.media.filter { !$0.isRejected }
    try #require(!live.isEmpty)
    #expect(live.allSatisfy { $0.transport.iceOptions == ["trickle"] })
    // The first section stands for the bundle (RFC 8843 §7.3); the others have its transport.
    #expect(!live[0].transport.candidates.isEmpty && live[0].transport.endOfCandidates)
    #expect(live.dropFirst().allSatisfy { $0.transport.candidates.isEmpty && !$0.transport.endOfCandidates })
    let lines = description.description.split(separator: "\r\n")
    let end = try #require(lines.lastIndex(of: "a=end-of-candidates"))
    #expect(lines.lastIndex { $0.hasPrefix("a=candidate:") }.map { $0 < end } == true)
  }

  @Test(.feature("S1.9", "S3.43"))
  func `offers and answers of ours have every candidate and say that there are no more`() throws {
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      configuration.localAddresses.append(SocketAddress(ip: .v4(0x0A00_0009), port: 7_000))
      if side == .offerer { configuration.sendsAudio = .init() } else { configuration.receivesAudio = true }
    }
    for description in try descriptions(try PeerPair(options)) {
      try checkWhole(description)
      #expect(description.media[0].transport.candidates.count == 2)
    }
  }

  @Test(arguments: [
    ChromiumOffers.receiver, FirefoxOffers.receiver, AiortcOffers.receiver, HandmadeOffers.safari,
    HandmadeOffers.webrtcbin,
  ]) func `real offers are answered so, whether they know trickle or not`(_ offer: String) throws {
    let pair = try PeerPair()
    for text in [offer, offer.lines { !$0.hasPrefix("a=ice-options") }] {
      pair.perform(.offerer, .acceptOffer(text))
      try checkWhole(SessionDescription(parsing: #require(pair.offerer.localDescription)))
    }
    #expect(pair.offerer.failures.isEmpty)
  }

  @Test(arguments: [true, false]) func `each later description says it again, also after an ICE restart`(restarts: Bool)
    throws
  {
    let pair = try PeerPair.inCall()
    for side in [PeerPair.Side.offerer, .answerer] {
      if restarts {
        var random = SeededGenerator(seed: 9)
        pair.perform(side, .restartICE(ICECredentials(using: &random)))
      } else {
        pair.addTrack(.video, "screen", on: side)
      }
      pair.run(for: .seconds(5)) { $0.areAgreed }
      for end in [pair.offerer, pair.answerer] {
        try checkWhole(SessionDescription(parsing: #require(end.localDescription)))
      }
    }
  }

  /// Takes a description's candidates out; the line of each.
  private func withoutCandidates(_ sdp: String) -> (sdp: String, candidates: [String]) {
    let candidates = sdp.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("a=candidate:") }.map {
      String($0.dropFirst(2))
    }
    return (sdp.lines { !$0.hasPrefix("a=candidate:") && $0 != "a=end-of-candidates" }, candidates)
  }

  /// Two peers whose descriptions travel without candidates; what was taken out, by the side whose they are.
  private func bare(_ seed: UInt64) throws -> (pair: PeerPair, candidates: [PeerPair.Side: [String]]) {
    var options = PeerPair.Options()
    options.seed = seed
    options.rewrite = { _, sdp in withoutCandidates(sdp).sdp }
    let pair = try PeerPair(options)
    pair.exchangeDescriptions()
    let made = [PeerPair.Side.offerer, .answerer].map {
      ($0, withoutCandidates(pair[$0].localDescription ?? "").candidates)
    }
    return (pair, Dictionary(uniqueKeysWithValues: made))
  }

  @Test(.feature("S1.10")) func `candidates that come one by one, with the empty one behind them, connect`()
    throws
  {
    let (pair, candidates) = try bare(1)
    pair.run(for: .seconds(1))
    #expect(!pair.areConnected)
    for side in [PeerPair.Side.offerer, .answerer] {
      for candidate in candidates[side] ?? [] {
        pair.perform(side.other, .addRemoteCandidate(ICECandidateInit(candidate: candidate, sdpMLineIndex: 0)))
      }
      pair.perform(side.other, .addRemoteCandidate(ICECandidateInit(candidate: "", sdpMLineIndex: 0)))
    }
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
  }

  @Test func `a fragment of candidates, its end, and an end alone are taken`() throws {
    let (pair, candidates) = try bare(2)
    for side in [PeerPair.Side.offerer, .answerer] {
      let description = try SessionDescription(parsing: #require(pair[side].localDescription))
      let section = description.media[0]
      let credentials = try #require(section.transport.credentials)
      let head = [
        "a=ice-ufrag:\(credentials.usernameFragment)", "a=ice-pwd:\(credentials.password)",
        "m=video 9 UDP/TLS/RTP/SAVPF 0", "a=mid:\(section.mid ?? "0")",
      ]
      let lines = (candidates[side] ?? []).map { "a=" + $0 }
      for body in [head + lines + ["a=end-of-candidates"], head + ["a=end-of-candidates"]] {
        pair.perform(side.other, .addRemoteCandidates(body.joined(separator: "\r\n") + "\r\n"))
      }
    }
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected && pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
  }

  /// How a far side may say that it has no more candidates.
  enum End: CaseIterable {
    case description, emptyCandidate, fragment
  }

  @Test(arguments: End.allCases)
  func `who offered does not wait for the time-out when the answerer has said everything and nothing fits`(_ end: End)
    throws
  {
    var options = PeerPair.Options()
    // The answerer knows no candidate of ours, so that no check of it shows a way either.
    options.rewrite = { side, sdp in
      side == .offerer || end != .description
        ? withoutCandidates(sdp).sdp : withoutCandidates(sdp).sdp + "a=end-of-candidates\r\n"
    }
    let pair = try PeerPair(options)
    pair.exchangeDescriptions()
    let start = pair.now
    let answer = try SessionDescription(parsing: #require(pair.answerer.localDescription))
    let credentials = try #require(answer.media[0].transport.credentials)
    switch end {
    case .description: break
    case .emptyCandidate: pair.perform(.offerer, .addRemoteCandidate(ICECandidateInit(candidate: "")))
    case .fragment:
      let lines = [
        "ice-ufrag:\(credentials.usernameFragment)", "ice-pwd:\(credentials.password)", "end-of-candidates",
      ]
      pair.perform(.offerer, .addRemoteCandidates(lines.map { "a=\($0)\r\n" }.joined()))
    }
    let nothing = EndReason.unreachable(PathsTried(hasRemoteCandidates: false))
    pair.run(for: .seconds(30)) { $0.offerer.state == .ended(nothing) }
    #expect(pair.offerer.failures.isEmpty && pair.now - start == .seconds(5))
    #expect(pair.answerer.state == .connecting)
  }

  @Test(.feature("S1.10")) func `candidates that come before their description wait for it`() throws {
    let pair = try PeerPair()
    pair.perform(.offerer, .createOffer)
    let (offer, candidates) = withoutCandidates(try #require(pair.offerer.localDescription))
    for candidate in candidates {
      pair.perform(.answerer, .addRemoteCandidate(ICECandidateInit(candidate: candidate, sdpMLineIndex: 0)))
    }
    pair.perform(.answerer, .addRemoteCandidate(ICECandidateInit(candidate: "")))
    pair.perform(.answerer, .acceptOffer(offer))
    let (answer, _) = withoutCandidates(try #require(pair.answerer.localDescription))
    pair.perform(.offerer, .acceptAnswer(answer))
    pair.run(for: .seconds(5)) { $0.areConnected }
    #expect(pair.areConnected)
  }
}

extension String {
  /// The lines of a description that `isWanted`.
  fileprivate func lines(where isWanted: (Substring) -> Bool) -> String {
    split(whereSeparator: \.isNewline).filter(isWanted).map { $0 + "\r\n" }.joined()
  }
}
