import RTCICE
import RTCPrimitives
import RTCWire
import Testing

@Suite struct CandidateTests {
  @Test func `hosts alternate families and put loopback last`() {
    let candidates = ICECandidate.hosts(
      addresses: [
        (.loopbackV4, 1), (IPAddress("192.168.1.5")!, 2), (IPAddress("fe80::5")!, 2), (IPAddress("10.1.1.5")!, 3),
        (IPAddress("2001:db8::5")!, 2), (IPAddress("192.168.1.5")!, 2), (IPAddress("0.0.0.0")!, 4),
      ], port: 4000)
    #expect(
      candidates.map { "\($0.address)" } == [
        "[2001:db8::5]:4000", "192.168.1.5:4000", "10.1.1.5:4000", "[fe80::5]:4000", "127.0.0.1:4000",
      ])
    #expect(candidates[0].priority == 126 << 24 | 65_535 << 8 | 255)
    #expect(zip(candidates, candidates.dropFirst()).allSatisfy { $0.priority > $1.priority })
    #expect(Set(candidates.map(\.foundation)).count == 5)
    #expect(candidates.allSatisfy { (1...32).contains($0.foundation.count) })
    #expect(candidates[3].address.ip == .v6(high: 0xFE80 << 48, low: 5, scope: 2))
  }

  @Test func `names and other components are no candidates`() {
    func candidate(_ address: String, component: Int = 1, transport: String = "UDP", kind: String = "host")
      -> ICECandidate?
    {
      CandidateDescription(parsing: "candidate:1 \(component) \(transport) 5 \(address) 9 typ \(kind)")
        .flatMap { ICECandidate($0) }
    }
    #expect(candidate("192.0.2.1")?.kind == .host)
    #expect(candidate("2001:db8::1", kind: "srflx")?.kind == .serverReflexive)
    #expect(candidate("5c0e8a1e-8f10-4a4c-9b4f-6e6d6b1c4c1e.local") == nil)
    #expect(candidate("example.org") == nil)
    #expect(candidate("192.0.2.1", transport: "tcp")?.tcpType == .passive)
    #expect(candidate("192.0.2.1", component: 2) == nil)
    #expect(candidate("192.0.2.1", kind: "weird") == nil)
  }

  @Test func `a candidate is described with its related address, or with one that says it is kept back`() {
    var candidate = ICECandidate(
      address: SocketAddress(ip: IPAddress("192.0.2.1")!, port: 7_000), priority: 5, kind: .serverReflexive,
      foundation: "s", relatedAddress: SocketAddress(ip: IPAddress("10.0.0.1")!, port: 5_000))
    func text() -> String { CandidateDescription(candidate).description }
    #expect(text() == "candidate:s 1 udp 5 192.0.2.1 7000 typ srflx raddr 10.0.0.1 rport 5000")
    candidate.relatedAddress = nil
    #expect(text() == "candidate:s 1 udp 5 192.0.2.1 7000 typ srflx raddr 0.0.0.0 rport 9")
    (candidate.kind, candidate.signaledName) = (.host, "0a5e-7.local")
    #expect(text() == "candidate:s 1 udp 5 0a5e-7.local 7000 typ host")
  }

  @Test func `credentials are long enough and checked`() {
    var generator = SeededGenerator(seed: 3)
    let credentials = ICECredentials(using: &generator)
    #expect(credentials.usernameFragment.count == 8 && credentials.password.count == 24)
    #expect(credentials.isWellFormed)
    for (fragment, password) in [
      ("abc", credentials.password), ("abcd", "short"), ("ab:d", credentials.password),
      ("abcd", String(repeating: "-", count: 22)),
    ] { #expect(!ICECredentials(usernameFragment: fragment, password: password).isWellFormed) }
    #expect(ICECredentials(using: &generator) != credentials)
  }
}
