import RTCPeer
import RTCPrimitives
import Testing

@Suite(.timeLimit(.minutes(1))) struct AdvertisedAddressTests {
  @Test(
    arguments: [
      ("203.0.113.1", "203.0.113.1", nil), ("203.0.113.1:5000", "203.0.113.1", 5000),
      ("2001:db8::1", "2001:db8::1", nil),
      ("[2001:db8::1]", "2001:db8::1", nil), ("[2001:db8::1]:5000", "2001:db8::1", 5000),
      ("home.example", "home.example", nil), ("home.example:443", "home.example", 443),
    ] as [(String, String, UInt16?)]) func `addresses and names are read`(text: String, host: String, port: UInt16?)
  {
    let address = AdvertisedAddress(text)
    #expect(address?.host == host && address?.port == port)
    #expect(address.flatMap { AdvertisedAddress($0.description) } == address)
  }

  @Test(arguments: [
    "", ":5000", "203.0.113.1:0", "203.0.113.1:65536", "203.0.113.1:", "203.0.113.1:x", "192.0.2", "0.0.0.0", "::",
    "fe80::1",
    "[203.0.113.1]:1", "[2001:db8::1]5000", "[2001:db8::1", "a b", "ä.example", "home.example:1:2",
  ]) func `others are not`(text: String) { #expect(AdvertisedAddress(text) == nil) }

  /// The loop, and the sentences of its notices.
  private func loop(_ texts: [String], tcp: Bool = false) throws -> (loop: PeerLoop, notices: AsyncStream<String>) {
    var options = TwoConnections.options
    let (notices, continuation) = AsyncStream.makeStream(of: String.self)
    options.advertised = try texts.map { try #require(AdvertisedAddress($0)) }
    options.servesTCP = tcp
    options.onNotice = { continuation.yield($0) }
    return (try PeerLoop(options), notices)
  }

  /// The candidates that a loop with these addresses offers at once.
  private func candidates(_ texts: [String], tcp: Bool = false) async throws -> (port: UInt16, lines: [String]) {
    let (loop, _) = try loop(texts, tcp: tcp)
    defer { loop.stop() }
    return (loop.port, try #require(await loop.gatheringReport()).candidates)
  }

  @Test func `an advertised address is offered beside the machine's own`() async throws {
    let (port, lines) = try await candidates(["203.0.113.1:6000", "2001:db8::1"])
    #expect(lines.contains { $0.contains(" udp ") && $0.contains(" 127.0.0.1 \(port) typ host") })
    #expect(lines.contains { $0.contains(" udp ") && $0.contains(" 203.0.113.1 6000 typ srflx") })
    #expect(lines.contains { $0.contains(" 2001:db8::1 \(port) typ srflx") })
    #expect(!lines.contains { $0.contains(" tcp ") })
  }

  @Test func `with ICE-TCP it is offered for TCP as well`() async throws {
    let (_, lines) = try await candidates(["203.0.113.1:6000"], tcp: true)
    let streams = lines.filter { $0.contains(" tcp ") }
    #expect(streams.contains { $0.contains(" 203.0.113.1 6000 typ srflx") && $0.contains("passive") })
  }

  @Test func `an address of an interface adds nothing`() async throws {
    let (port, lines) = try await candidates(["127.0.0.1"])
    #expect(lines.filter { $0.contains(" 127.0.0.1 \(port) ") }.count == 1)
    #expect(!lines.contains { $0.contains("srflx") })
  }

  @Test func `of very many addresses sixteen are offered`() async throws {
    let (_, lines) = try await candidates((1...20).map { "203.0.113.\($0)" })
    #expect(lines.filter { $0.contains("typ srflx") }.count == 16)
  }

  @Test func `the address of a name is sent to remote peers once it is found`() async throws {
    let (loop, _) = try loop(["localhost:6000"])
    defer { loop.stop() }
    let connection = PeerConnection(on: loop)
    _ = try await connection.createDataChannel("any")
    let offer = try await connection.createOffer()
    let wanted = " 127.0.0.1 6000 typ srflx"
    if offer.contains(wanted) { return }
    for await event in connection.events {
      if case .localCandidate(let candidate) = event, candidate.candidate.contains(wanted) { return }
    }
    Issue.record("the name's address is not offered")
  }

  @Test func `a name that is not found gives a message, and the machine's own addresses remain`() async throws {
    let (loop, notices) = try loop(["nowhere.invalid:6000"])
    defer { loop.stop() }
    var first = notices.makeAsyncIterator()
    let notice = try #require(await first.next())
    #expect(notice.hasPrefix("The name nowhere.invalid of --advertise was not found: "))
    let lines = try #require(await loop.gatheringReport()).candidates
    #expect(
      lines.contains { $0.contains(" 127.0.0.1 \(loop.port) typ host") } && !lines.contains { $0.contains("srflx") })
  }
}
