import RTCPrimitives
import Testing
import rtcast_cli

@Suite struct ICEFindingsTests {
  private static func address(_ text: String) -> SocketAddress {
    let parts = text.split(separator: ":")
    return SocketAddress(ip: IPAddress(String(parts[0]))!, port: UInt16(parts[1])!)
  }

  /// A server at 198.51.100.N, which sees this machine as `mapped`; nil: no answer.
  private static func server(
    _ number: Int, seen mapped: String?, _ transport: ICEServerURL.Transport = .udp, relayed: String? = nil
  ) -> ICEFindings.Server {
    let url = ICEServerURL(scheme: relayed == nil ? .stun : .turn, host: "s\(number).example", transport: transport)
    let address = Self.address("198.51.100.\(number):3478")
    guard let mapped else { return ICEFindings.Server(url, address: address, failure: "It does not answer.") }
    return ICEFindings.Server(
      url, address: address, answeredAfter: .milliseconds(23), mapped: Self.address(mapped),
      relayed: relayed.map(Self.address))
  }

  private static func findings(_ servers: ICEFindings.Server...) -> ICEFindings {
    let own = ICEFindings.Address(interface: "eth0", ip: IPAddress("192.0.2.7")!, isOffered: true)
    return ICEFindings(addresses: [own], servers: servers)
  }

  @Test func `what several servers see tells the kind of NAT`() {
    let one = "203.0.113.5:40000"
    #expect(Self.findings().mapping == .unknown)
    #expect(Self.findings(Self.server(1, seen: nil)).mapping == .unknown)
    #expect(Self.findings(Self.server(1, seen: "192.0.2.7:5000")).mapping == .none)
    #expect(Self.findings(Self.server(1, seen: one)).mapping == .some)
    // Twice the same server says no more than once.
    #expect(Self.findings(Self.server(1, seen: one), Self.server(1, seen: one)).mapping == .some)
    #expect(Self.findings(Self.server(1, seen: one), Self.server(2, seen: one)).mapping == .endpointIndependent)
    #expect(
      Self.findings(Self.server(1, seen: one), Self.server(2, seen: "203.0.113.5:40001")).mapping == .addressDependent)
    // A connection by TCP has a mapping of its own.
    #expect(Self.findings(Self.server(1, seen: one), Self.server(2, seen: "203.0.113.5:9", .tcp)).mapping == .some)
    #expect(Self.findings(Self.server(1, seen: nil), Self.server(2, seen: one, .tcp)).mapping == .blocked)
  }

  @Test func `a NAT that shows each destination another address wants a relay`() {
    let (first, second) = (Self.server(1, seen: "203.0.113.5:1"), Self.server(2, seen: "203.0.113.5:2"))
    let alone = Self.findings(first, second).mappingCheck
    #expect(alone.verdict == .lacks && alone.advice?.contains("--ice-server turn:") == true)
    let relayed = Self.server(3, seen: "203.0.113.5:3", relayed: "198.51.100.3:50000")
    #expect(Self.findings(first, second, relayed).mappingCheck.verdict == .works)
  }

  @Test func `a server says what it gives and how long it took, or why it is of no use and what to do`() {
    let checks = Self.findings(
      Self.server(1, seen: "203.0.113.5:1"), Self.server(2, seen: "203.0.113.5:2", relayed: "198.51.100.2:50000"),
      Self.server(3, seen: nil)
    ).serverChecks
    #expect(checks.map(\.name) == ["stun:s1.example", "turn:s2.example", "stun:s3.example"])
    #expect(
      checks.map(\.finding) == [
        "sees us as 203.0.113.5:1, after 23 ms", "relays by 198.51.100.2:50000, after 23 ms", "It does not answer.",
      ])
    #expect(checks.map(\.verdict) == [.works, .works, .fails])
    #expect(checks[2].advice == "Is it running, and does a firewall let UDP out to port 3478 of s3.example?")
    #expect(
      checks[1].object.text
        == #"{"check":"turn:s2.example","verdict":"works","finding":"relays by 198.51.100.2:50000, after 23 ms","#
        + #""advice":null,"url":"turn:s2.example","address":"198.51.100.2:3478","answered_ms":23,"#
        + #""mapped":"203.0.113.5:2","relayed":"198.51.100.2:50000","failure":null}"#)
  }

  @Test func `advice fits what failed`() {
    let url = ICEServerURL(scheme: .turn, host: "t.example")
    let unknown = ICEFindings.Server(url, failure: "Its name was not found.")
    let refused = ICEFindings.Server(
      url, address: Self.address("198.51.100.1:3478"),
      failure: "It refuses the user name or the credential (401).")
    let checks = Self.findings(unknown, refused, ICEFindings.Server(url)).serverChecks
    let advice = checks.map(\.advice)
    #expect(advice[0]?.contains("name resolution") == true && advice[1]?.contains("password") == true)
    #expect(checks[2].verdict == .fails && checks[2].finding == "It does not answer.")
    #expect(advice[2]?.contains("a firewall let UDP out to port 3478") == true)
  }

  @Test func `interfaces show what is offered and what is not`() {
    let addresses = [
      ("lo", "127.0.0.1", false), ("eth0", "192.0.2.7", true), ("eth0", "2001:db8::7", true),
      ("docker0", "172.17.0.1", false),
    ]
    let findings = ICEFindings(
      addresses: addresses.map { ICEFindings.Address(interface: $0.0, ip: IPAddress($0.1)!, isOffered: $0.2) },
      servers: [])
    #expect(findings.interfaceChecks.map(\.finding) == ["192.0.2.7, 2001:db8::7", "not offered: 172.17.0.1"])
    #expect(findings.interfaceChecks.map(\.verdict) == [.works, .lacks])
  }

  @Test func `candidates are shown as places, and none is a fault`() {
    var findings = Self.findings()
    #expect(findings.candidateChecks.map(\.verdict) == [.fails])
    findings.candidates = [
      "candidate:1 1 udp 2130706431 192.0.2.7 5000 typ host",
      "candidate:2 1 UDP 1694498815 203.0.113.5 40000 typ srflx raddr 192.0.2.7 rport 5000",
      "candidate:3 1 udp 2130706431 2001:db8::7 5000 typ host", "nonsense",
    ]
    #expect(
      findings.candidateChecks.map { "\($0.name) \($0.finding)" } == [
        "host udp 192.0.2.7:5000", "srflx udp 203.0.113.5:40000 for 192.0.2.7:5000", "host udp [2001:db8::7]:5000",
        "? nonsense",
      ])
  }

  @Test func `a port that changes is told how to be fixed`() {
    var findings = Self.findings()
    findings.port = 48_000
    #expect(findings.firewallCheck.advice?.contains("--udp-port") == true)
    findings.isPortFixed = true
    #expect(findings.firewallCheck.advice == nil && findings.firewallCheck.finding.contains("48000"))
  }

  @Test func `a port that is not reached from outside is no failure, and the advice knows of NATs`() {
    var finding = OutsideFinding(
      hub: "hub.example", port: 5_000, address: "203.0.113.5", isUDPOpen: false, isTCPOpen: true)
    let own = [IPAddress("192.0.2.7")!]
    let checks = finding.checks(ownAddresses: own)
    #expect(checks.map(\.name) == ["UDP 5000", "TCP 5000"] && checks.map(\.verdict) == [.lacks, .works])
    #expect(checks[0].advice?.contains("--map-port") == true && checks[1].advice == nil)
    finding.address = "192.0.2.7"
    #expect(finding.checks(ownAddresses: own)[0].advice?.hasPrefix("Let UDP port 5000 in") == true)
    finding.address = "10.0.0.7"
    #expect(finding.checks(ownAddresses: own)[1].finding.hasSuffix("the hub is in the same private network"))
  }
}
