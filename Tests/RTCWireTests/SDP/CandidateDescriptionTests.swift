import RTCPrimitives
import RTCWire
import Testing

@Suite struct CandidateDescriptionTests {
  @Test(arguments: [
    "candidate:1 1 udp 2113937151 192.0.2.7 50000 typ host",
    "candidate:f957a2332b1715da3b0ef8ba684454eb 1 udp 2130706431 fd00::2 33054 typ host",
    "candidate:3 2 udp 1 192.0.2.7 1 typ srflx raddr 10.0.0.7 rport 50000",
    "candidate:4 1 tcp 2105458943 9c7a0f2e-1b1a-4b8a-9c69-0d2cf2ab0e57.local 9 typ host tcptype active",
    "candidate:5 1 tcp 1518280447 turn.example.org 443 typ relay raddr 0.0.0.0 rport 0 tcptype passive ufrag a+/9",
    "candidate:6 256 tcp 4294967295 192.0.2.7 65535 typ prflx tcptype so",
  ]) func `good ones come back as written`(_ text: String) {
    #expect(CandidateDescription(parsing: text)?.description == text)
    #expect(CandidateDescription(parsing: "a=" + text)?.description == text)
  }

  @Test func `browsers additions are understood or passed over`() throws {
    let chromium = try #require(
      CandidateDescription(
        parsing: "candidate:1 1 UDP 2113937151 a.local 50000 typ host generation 0 ufrag x9f2 network-cost 999"))
    #expect(chromium.address == .name("a.local") && chromium.usernameFragment == "x9f2")
    #expect(chromium.transport == .udp && chromium.related == nil)
    let old = try #require(CandidateDescription(parsing: "candidate:1 1 TCP 1 192.0.2.1 9 typ host"))
    #expect(old.transport == .tcp(.passive))
    #expect(old.address == .ip(.v4(0xC000_0201)))
  }

  @Test(arguments: [
    "", "candidate:", "candidate", "candidate:1", "candidate:1 1 udp 1 192.0.2.1 9 typ",
    "candidate:1 1 udp 1 192.0.2.1 9",
    "candidate:1 0 udp 1 192.0.2.1 9 typ host", "candidate:1 257 udp 1 192.0.2.1 9 typ host",
    "candidate:1 1 sctp 1 192.0.2.1 9 typ host", "candidate:1 1 udp 0 192.0.2.1 9 typ host",
    "candidate:1 1 udp 4294967296 192.0.2.1 9 typ host", "candidate:1 1 udp -1 192.0.2.1 9 typ host",
    "candidate:1 1 udp 1 192.0.2.256 9 typ host", "candidate:1 1 udp 1 192.0.2 9 typ host",
    "candidate:1 1 udp 1 localhost 9 typ host", "candidate:1 1 udp 1 a..local 9 typ host",
    "candidate:1 1 udp 1 fe80::1%eth0 9 typ host", "candidate:1 1 udp 1 192.0.2.1 65536 typ host",
    "candidate:1 1 udp 1 192.0.2.1 9 typ unknown", "candidate:1 1 udp 1 192.0.2.1 9 is host",
    "candidate:1 1 tcp 1 192.0.2.1 9 typ host tcptype odd", "candidate:1 1 udp 1 a\nb.local 9 typ host",
    "candidate:123456789012345678901234567890123 1 udp 1 192.0.2.1 9 typ host",
  ]) func `bad ones are none`(_ text: String) {
    #expect(CandidateDescription(parsing: text) == nil)
  }
}
