import RTCEngine
import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Candidates of ours that come and go are described, told of one by one, and used.
@Suite struct PeerCandidatesTests {
  private func description(_ end: PeerEnd) throws -> SessionDescription {
    try SessionDescription(parsing: #require(end.localDescription))
  }

  /// Neither side has candidates to begin with.
  private func bare() throws -> PeerPair {
    var options = PeerPair.Options()
    options.configure = { _, configuration in
      configuration.localCandidates = []
      configuration.isGatheringComplete = false
    }
    return try PeerPair(options)
  }

  /// Takes what a side has told of to the other.
  private func trickle(_ pair: PeerPair, from side: PeerPair.Side, after count: Int = 0) {
    for candidate in pair[side].gatheredCandidates.dropFirst(count) {
      pair.perform(side.other, .addRemoteCandidate(candidate))
    }
  }

  @Test func `descriptions have what is there, and their end only when it is complete`() throws {
    let pair = try bare()
    pair.perform(.offerer, .setLocalCandidates(Reach.hosts(.offerer, [1]), isComplete: false))
    pair.perform(.offerer, .createOffer)
    var transport = try description(pair.offerer).media[0].transport
    #expect(transport.candidates.count == 1 && !transport.endOfCandidates)
    #expect(pair.offerer.gatheredCandidates.isEmpty)
    pair.perform(.offerer, .setLocalCandidates(Reach.hosts(.offerer, [1, 7]), isComplete: true))
    pair.perform(.offerer, .createOffer)
    transport = try description(pair.offerer).media[0].transport
    #expect(transport.candidates.count == 2 && transport.endOfCandidates)
  }

  @Test func `what is gathered after a description is told of one by one, with its end, and connects`() throws {
    let pair = try bare()
    pair.exchangeDescriptions()
    pair.run(for: .seconds(1))
    #expect(!pair.areConnected && pair.offerer.gatheredCandidates.isEmpty)
    for (side, number) in [(PeerPair.Side.offerer, 1), (.answerer, 2)] as [(PeerPair.Side, UInt32)] {
      pair.perform(side, .setLocalCandidates(Reach.hosts(side, [number]), isComplete: false))
      pair.perform(side, .setLocalCandidates(Reach.hosts(side, [number]), isComplete: true))
      let told = pair[side].gatheredCandidates
      #expect(told.count == 2 && told[0].candidate.hasPrefix("candidate:") && told[1].candidate.isEmpty)
      let section = try description(pair[side]).media[0]
      #expect(told.allSatisfy { $0.sdpMid == section.mid && $0.sdpMLineIndex == 0 })
      #expect(told.allSatisfy { $0.usernameFragment == section.transport.usernameFragment })
    }
    trickle(pair, from: .offerer)
    trickle(pair, from: .answerer)
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected && pair.offerer.failures.isEmpty && pair.answerer.failures.isEmpty)
  }

  @Test func `candidates told of before the remote peer has the description wait for it`() throws {
    let pair = try bare()
    pair.perform(.offerer, .createOffer)
    pair.perform(.offerer, .setLocalCandidates(Reach.hosts(.offerer, [1]), isComplete: true))
    trickle(pair, from: .offerer)
    pair.perform(.answerer, .acceptOffer(try #require(pair.offerer.localDescription)))
    pair.perform(.answerer, .setLocalCandidates(Reach.hosts(.answerer, [2]), isComplete: true))
    trickle(pair, from: .answerer)
    pair.perform(.offerer, .acceptAnswer(try #require(pair.answerer.localDescription)))
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected)
  }

  @Test(arguments: [PeerPair.Side.offerer, .answerer])
  func `an interface that is replaced in a call costs no second of pictures and no restart`(_ side: PeerPair.Side)
    throws
  {
    let pair = try Reach.connected()
    let states = pair[side].states.count
    let old = try #require(pair.options.addresses[side])
    let frames = pair.receiver.frames.count
    // The new address is there before the old one goes, or after.
    let new = Reach.hosts(side, [77])
    pair.network.blockedAddresses = [old]
    pair.perform(side, .setLocalCandidates(new, isComplete: true))
    trickle(pair, from: side)
    pair.run(for: .seconds(1))
    #expect(pair.receiver.frames.count > frames + 12)
    #expect(pair[side].peer.statistics.selectedRoute?.local == new[0].address)
    #expect(pair[side.other].peer.statistics.selectedRoute?.remote == new[0].address)
    #expect(pair.areConnected)
    pair.run(for: .seconds(60))
    #expect(pair.areConnected && FrameChain(pair.receiver.frames).isSound)
    #expect(pair[side].states.count <= states + 2)
  }

  @Test func `the round trip is that of the new way as soon as the way has changed`() throws {
    let pair = try Reach.connected()
    pair.network.setConditions(.delayed(.milliseconds(200)))
    pair.run(for: .seconds(12))
    let slow = try #require(pair.offerer.peer.statistics.roundTripTime)
    #expect(slow > .milliseconds(300))
    pair.network.setConditions(.delayed(.milliseconds(5)))
    pair.network.blockedAddresses = [try #require(pair.options.addresses[.offerer])]
    pair.perform(.offerer, .setLocalCandidates(Reach.hosts(.offerer, [77]), isComplete: true))
    let new = Reach.hosts(.offerer, [77])[0].address
    pair.run(for: .seconds(3)) { $0.offerer.peer.statistics.selectedRoute?.local == new && $0.areConnected }
    #expect(try #require(pair.offerer.peer.statistics.roundTripTime) <= .milliseconds(10))
    let selected = try #require(pair.offerer.peer.statistics.selectedPair)
    #expect(selected.localKind == .host && selected.localAddress == new && selected.transportProtocol == .udp)
    let report = pair.offerer.peer.iceReport
    #expect(report.pairs.count { $0.isSelected } == 1 && report.localCandidates.count == 1)
    #expect(report.pairs[0].state == .succeeded && report.pairs[0].responsesReceived > 0)
  }

  @Test func `with policy relay nothing but relayed candidates is described, told of, and used`() throws {
    let relay = SocketAddress(ip: .v4(0xC000_0209), port: 50_000)
    let relayed = ICECandidate(
      address: relay, priority: 255, kind: .relayed, foundation: "r",
      relatedAddress: Reach.hosts(.offerer, [1])[0].address,
      carrier: .relay(4))
    var options = PeerPair.Options()
    options.carriers[relay] = .relay(4)
    options.configure = { side, configuration in
      guard side == .offerer else { return }
      configuration.iceTransportPolicy = .relay
      configuration.localCandidates = Reach.hosts(.offerer, [1])
      configuration.isGatheringComplete = false
    }
    let pair = try PeerPair(options)
    pair.exchangeDescriptions()
    #expect(try description(pair.offerer).media[0].transport.candidates.isEmpty)
    pair.perform(.offerer, .setLocalCandidates(Reach.hosts(.offerer, [1]) + [relayed], isComplete: true))
    let told = pair.offerer.gatheredCandidates.map(\.candidate)
    #expect(told.count == 2 && told[0].contains("typ relay raddr 0.0.0.0 rport 9"))
    trickle(pair, from: .offerer)
    pair.run(for: .seconds(3)) { $0.areConnected }
    #expect(pair.areConnected && pair.offerer.peer.statistics.selectedRoute?.kind == .relay(4))
  }

  @Test func `RFC 8839: the default candidate stands in the m-, c- and rtcp-lines`() throws {
    let pair = try bare()
    func lines() throws -> [String?] {
      pair.perform(.offerer, .createOffer)
      let section = try description(pair.offerer).media[0]
      return ["\(section.port)", section.connection, section.rtcp]
    }
    #expect(try lines() == ["9", "IN IP4 0.0.0.0", "9 IN IP4 0.0.0.0"])
    var six = ICECandidate.hosts(addresses: [(IPAddress("2001:db8::1")!, 0)], port: 5_000)
    pair.perform(.offerer, .setLocalCandidates(six, isComplete: false))
    #expect(try lines() == ["5000", "IN IP6 2001:db8::1", "5000 IN IP6 2001:db8::1"])
    six += Reach.hosts(.offerer, [1])
    pair.perform(.offerer, .setLocalCandidates(six, isComplete: false))
    #expect(try lines() == ["5000", "IN IP4 10.0.0.1", "5000 IN IP4 10.0.0.1"])
    let reflexive = ICECandidate(
      address: SocketAddress(ip: .v4(0x0102_0304), port: 7_000), priority: 1, kind: .serverReflexive, foundation: "s")
    let passive = ICECandidate(
      address: SocketAddress(ip: .v4(0x0102_0305), port: 443), priority: 9, kind: .relayed, foundation: "t",
      tcpType: .passive)
    pair.perform(.offerer, .setLocalCandidates(six + [reflexive, passive], isComplete: true))
    #expect(try lines() == ["7000", "IN IP4 1.2.3.4", "7000 IN IP4 1.2.3.4"])
  }

  @Test func `names of multicast DNS are told of once, and connect when they are resolved`() throws {
    var options = PeerPair.Options()
    options.rewrite = { side, sdp in
      side == .offerer ? sdp.replacing("10.0.0.1 5000 typ", with: "0a5e-7.local 5000 typ") : sdp
    }
    let pair = try PeerPair(options)
    // The offerer does not know where to send its own checks either.
    pair.filter = { side, _ in side == .answerer || pair.answerer.peer.statistics.selectedRoute != nil }
    pair.exchangeDescriptions()
    pair.run(for: .seconds(1))
    let names = pair.answerer.events.compactMap {
      if case .candidateNameNeedsResolving(let name) = $0.event { name } else { nil }
    }
    #expect(names == ["0a5e-7.local"] && !pair.areConnected)
    pair.filter = nil
    pair.perform(.answerer, .resolvedCandidate("0A5E-7.local", .v4(0x0A00_0001)))
    pair.run(for: .seconds(2)) { $0.areConnected }
    #expect(pair.areConnected)
  }

  @Test func `other names are nobody's to ask for, and few at a time are kept`() throws {
    let pair = try bare()
    pair.exchangeDescriptions()
    for name in ["example.org", "a.b.local", "local", "x.local.example"] {
      pair.perform(
        .answerer, .addRemoteCandidate(ICECandidateInit(candidate: "candidate:1 1 udp 5 \(name) 5000 typ host")))
    }
    for number in 0..<100 {
      pair.perform(
        .answerer,
        .addRemoteCandidate(ICECandidateInit(candidate: "candidate:1 1 udp 5 n\(number).local 5000 typ host")))
    }
    let names = pair.answerer.events.count { if case .candidateNameNeedsResolving = $0.event { true } else { false } }
    #expect(names == 16)
    pair.perform(.answerer, .resolvedCandidate("n3.local", nil))
    pair.perform(.answerer, .resolvedCandidate("unknown.local", .v4(0x0A00_0001)))
    #expect(pair.answerer.failures.allSatisfy { $0.kind == .malformed })
  }
}
