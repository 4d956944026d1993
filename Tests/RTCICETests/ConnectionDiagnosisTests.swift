import RTCICE
import RTCPrimitives
import RTCWire
import Testing

/// Situations in which no connection comes about, and the cause that is named for each.
@Suite struct ConnectionDiagnosisTests {
  private typealias Cause = ConnectionDiagnosis.Cause

  private static func address(_ text: String, _ port: UInt16 = 5000) -> SocketAddress {
    SocketAddress(ip: IPAddress(text)!, port: port)
  }

  private static func candidate(
    _ text: String, _ kind: ICECandidateKind = .host, port: UInt16 = 5000, tcp: Bool = false
  ) -> ICECandidate {
    ICECandidate(
      address: address(text, port), priority: 1, kind: kind, foundation: "1", tcpType: tcp ? .passive : nil)
  }

  /// The facts of a cast and a viewer on one network, whose checks have no answers.
  private static func evidence(
    _ local: [ICECandidate] = [candidate("192.168.1.2")], _ remote: [ICECandidate] = [candidate("192.168.1.9")],
    viewer: String? = "192.168.1.9", _ change: (inout ConnectionDiagnosis.Evidence) -> Void = { _ in }
  ) -> ConnectionDiagnosis.Evidence {
    var evidence = ConnectionDiagnosis.Evidence()
    (evidence.local, evidence.remote) = (local, remote)
    evidence.viewerAddress = viewer.flatMap { IPAddress($0) }
    change(&evidence)
    return evidence
  }

  private func cause(_ evidence: ConnectionDiagnosis.Evidence) -> Cause { ConnectionDiagnosis(evidence).cause }

  @Test func `the port of a blocked firewall is named`() {
    let found = ConnectionDiagnosis(Self.evidence())
    #expect(found.cause == .portSilent(Self.address("192.168.1.2"), hasTCP: false))
    #expect(
      found.sentence == "UDP port 5000 of 192.168.1.2 does not answer. Open it in the firewall of the casting machine, "
        + "or cast with --ice-tcp.")
    #expect(found.summary == "UDP port 5000 of 192.168.1.2 does not answer")
  }

  @Test func `TCP that is blocked too is not recommended`() {
    let local = [Self.candidate("192.168.1.2"), Self.candidate("192.168.1.2", tcp: true)]
    let found = ConnectionDiagnosis(Self.evidence(local))
    #expect(found.cause == .portSilent(Self.address("192.168.1.2"), hasTCP: true))
    #expect(!found.sentence.contains("--ice-tcp"))
  }

  @Test func `of several addresses the one is named by which the viewer comes`() {
    let local = ["10.0.0.2", "2001:db8::2", "198.51.100.2", "fe80::2"].map { Self.candidate($0) }
    let far = Self.evidence(local, [Self.candidate("203.0.113.9")], viewer: "203.0.113.9")
    #expect(cause(far) == .portSilent(Self.address("198.51.100.2"), hasTCP: false))
    let near = Self.evidence(local, [Self.candidate("10.0.0.9")], viewer: "10.0.0.9")
    #expect(cause(near) == .portSilent(Self.address("10.0.0.2"), hasTCP: false))
    let v6 = Self.evidence(local, [Self.candidate("2001:db8::9")], viewer: "2001:db8::9")
    #expect(cause(v6) == .portSilent(Self.address("2001:db8::2"), hasTCP: false))
    let unknown = Self.evidence(local, [Self.candidate("10.0.0.9")], viewer: nil)
    #expect(cause(unknown) == .portSilent(Self.address("10.0.0.2"), hasTCP: false))
  }

  @Test func `one-way filters are told apart`() {
    #expect(cause(Self.evidence { $0.requestsReceived = 4 }) == .outgoingBlocked)
    let seen = Self.evidence { $0.viewerChecks = .init(sent: 9, answered: 0, received: 5) }
    #expect(cause(seen) == .incomingBlocked(Self.address("192.168.1.2")))
    let unseen = Self.evidence { $0.viewerChecks = .init(sent: 9, answered: 0, received: 0) }
    #expect(cause(unseen) == .portSilent(Self.address("192.168.1.2"), hasTCP: false))
  }

  @Test func `names that hide a browser's addresses are mentioned if they cannot be looked up`() {
    let hidden = Self.evidence([Self.candidate("192.168.1.2")], []) { $0.unresolvedNames = 2 }
    #expect(cause(hidden) == .namesUnresolved(Self.address("192.168.1.2")))
    let known = Self.evidence { $0.unresolvedNames = 2 }
    #expect(cause(known) == .portSilent(Self.address("192.168.1.2"), hasTCP: false))
  }

  @Test func `a container or a forwarded port without --advertise`() {
    let far = Self.evidence(
      [Self.candidate("172.17.0.2")], [Self.candidate("203.0.113.9", .serverReflexive)], viewer: "203.0.113.9")
    #expect(cause(far) == .privateOnly)
    #expect(ConnectionDiagnosis(far).sentence.contains("--advertise"))
    // Carrier-grade NATs and IPv6 of a site are private too.
    for own in ["100.64.1.2", "10.9.8.7", "169.254.3.3"] {
      #expect(
        cause(Self.evidence([Self.candidate(own)], [Self.candidate("203.0.113.9")], viewer: "203.0.113.9"))
          == .privateOnly)
    }
    let site = Self.evidence([Self.candidate("fd00::2")], [Self.candidate("2001:db8::9")], viewer: "2001:db8::9")
    #expect(cause(site) == .privateOnly)
  }

  @Test func `an advertised address that does not answer is named`() {
    let outside = Self.address("198.51.100.7", 6000)
    let wrong = Self.evidence(
      [Self.candidate("172.17.0.2"), Self.candidate("198.51.100.7", .serverReflexive, port: 6000)],
      [Self.candidate("203.0.113.9")], viewer: "203.0.113.9"
    ) { $0.advertised = [Self.address("2001:db8::7", 6000), outside] }
    #expect(cause(wrong) == .advertisedSilent(outside))
    // A viewer on the same network does not use it.
    let near = Self.evidence { $0.advertised = [outside] }
    #expect(cause(near) == .portSilent(Self.address("192.168.1.2"), hasTCP: false))
  }

  @Test func `NATs on both sides need a relay`() {
    let local = [Self.candidate("10.1.0.2"), Self.candidate("198.51.100.7", .serverReflexive, port: 40_000)]
    let remote = [Self.candidate("10.2.0.2"), Self.candidate("203.0.113.9", .serverReflexive)]
    var both = Self.evidence(local, remote, viewer: "203.0.113.9")
    #expect(cause(both) == .natsBlock)
    both.serverFailures = ["turn:turn.example: it refuses the password"]
    #expect(ConnectionDiagnosis(both).sentence.hasSuffix("turn:turn.example: it refuses the password."))
    let relayed = Self.evidence(local + [Self.candidate("198.51.100.50", .relayed)], remote, viewer: "203.0.113.9")
    #expect(cause(relayed) == .relaySilent)
    let theirs = Self.evidence(local, remote + [Self.candidate("198.51.100.50", .relayed)], viewer: "203.0.113.9")
    #expect(cause(theirs) == .relaySilent)
  }

  @Test func `relays only, and none works`() {
    var lonely = Self.evidence([]) { $0.isRelayOnly = true }
    #expect(cause(lonely) == .noRelay)
    lonely.serverFailures = ["turn:a: it does not answer", "turn:b: it does not answer", "turn:c: it does not answer"]
    let sentence = ConnectionDiagnosis(lonely).sentence
    #expect(sentence.contains("turn:a: ") && sentence.contains("turn:b: ") && !sentence.contains("turn:c: "))
    let working = Self.evidence([Self.candidate("198.51.100.50", .relayed)]) { $0.isRelayOnly = true }
    #expect(cause(working) == .relaySilent)
  }

  @Test func `sides without a common version of IP`() {
    let v4 = [Self.candidate("192.168.1.2")], v6 = [Self.candidate("2001:db8::9")]
    #expect(cause(Self.evidence(v4, v6, viewer: "127.0.0.1")) == .noCommonVersion(localIsIPv4: true))
    #expect(cause(Self.evidence(v6, v4, viewer: "127.0.0.1")) == .noCommonVersion(localIsIPv4: false))
    #expect(cause(Self.evidence(v4 + v6, v6, viewer: "2001:db8::9")) != .noCommonVersion(localIsIPv4: true))
    // A name may have either.
    let named = Self.evidence(v4, v6) { $0.unresolvedNames = 1 }
    #expect(cause(named) == .portSilent(Self.address("192.168.1.2"), hasTCP: false))
  }

  @Test func `sides without any address`() {
    #expect(cause(Self.evidence([])) == .noLocalAddress)
    #expect(cause(Self.evidence([Self.candidate("192.168.1.2")], [])) == .noRemoteAddress)
    // Its checks have told its address.
    #expect(cause(Self.evidence([Self.candidate("192.168.1.2")], []) { $0.requestsReceived = 1 }) == .outgoingBlocked)
  }

  @Test func `a path on which large packets are lost`() {
    let found = Self.evidence {
      ($0.requestsReceived, $0.responsesReceived, $0.hasPath) = (3, 3, true)
    }
    #expect(cause(found) == .handshakeSilent)
    #expect(ConnectionDiagnosis(found).sentence.contains("MTU"))
  }

  @Test func `each text names a remedy, and the short one fits a line`() {
    let place = Self.address("2001:db8:1111:2222:3333:4444:5555:6666")
    let all = [
      Self.evidence([]), Self.evidence([], []) { $0.isRelayOnly = true }, Self.evidence { $0.requestsReceived = 1 },
      Self.evidence { $0.hasPath = true }, Self.evidence(), Self.evidence([Self.candidate("192.168.1.2")], []),
      Self.evidence([Self.candidate("10.0.0.2")], viewer: "203.0.113.9"),
      Self.evidence([Self.candidate("10.0.0.2")], viewer: "203.0.113.9") { $0.advertised = [place] },
    ]
    for evidence in all {
      let found = ConnectionDiagnosis(evidence)
      let remedies = ["Open", "Connect", "Check", "Allow", "Use", "Forward", "Lower", "Let"]
      #expect(remedies.contains { found.sentence.contains("\($0) ") }, "\(found.sentence)")
      #expect(found.sentence.hasSuffix(".") && found.summary.count < 90 && !found.summary.hasSuffix("."))
    }
  }
}
