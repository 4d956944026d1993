import RTCPrimitives
import RTCTURN
import RTCWire
import Testing

@Suite struct RelayedDataTests {
  private static let peer = ServerKit.peer

  @Test func `data passes both ways while there is a permission, which lasts five minutes`() {
    var kit = ServerKit()
    let relayed = kit.allocate()?.relayed.first
    kit.indicate([1], to: Self.peer)
    kit.arrive([2])
    #expect(kit.take().isEmpty && kit.server.counters.dropsUnpermitted == 2)
    #expect(kit.permit([Self.peer])?.code == nil)
    kit.wait(299)
    kit.indicate([1], to: Self.peer)
    let sent = kit.take()
    #expect(sent.map(\.bytes) == [[1]] && sent.first?.route.remote == Self.peer && sent.first?.route.local == relayed)
    // The permission is the address's: any port of it.
    kit.arrive([2], from: SocketAddress(ip: Self.peer.ip, port: 9))
    let received = kit.take()
    #expect(received.first?.route == ServerKit.client)
    if let bytes = received.first?.bytes, let message = try? STUNMessage(parsing: bytes.span) {
      #expect(message.header.method == .data && message.header.class == .indication)
      #expect(message.xorPeerAddress == SocketAddress(ip: Self.peer.ip, port: 9))
      #expect(message.dataRange.map { Array(bytes[$0]) } == [2])
    } else {
      Issue.record("no Data indication")
    }
    kit.wait(1)
    kit.indicate([1], to: Self.peer)
    kit.arrive([2])
    #expect(kit.take().isEmpty)
  }

  @Test func `a channel lasts ten minutes, and gives a permission for five`() {
    var kit = ServerKit()
    _ = kit.allocate(lifetime: 3_600)
    #expect(kit.bind(0x4001, to: Self.peer)?.code == nil)
    kit.channelData([5, 6, 7], 0x4001)
    kit.arrive([8])
    #expect(kit.take().map(\.bytes) == [[5, 6, 7], [0x40, 0x01, 0, 1, 8]])
    kit.wait(300)
    kit.channelData([5], 0x4001)
    #expect(kit.take().isEmpty)
    _ = kit.permit([Self.peer])
    kit.channelData([5], 0x4001)
    #expect(kit.take().map(\.bytes) == [[5]])
    kit.wait(299)
    kit.arrive([8])
    #expect(kit.take().first?.bytes.count == 5)
    _ = kit.permit([Self.peer])
    kit.wait(1)
    kit.channelData([5], 0x4001)
    #expect(kit.take().isEmpty)
    kit.arrive([8])
    #expect((kit.take().first?.bytes.count ?? 0) > 20, "a Data indication again")
  }

  @Test func `a channel and its peer belong together until five minutes after its end`() {
    var kit = ServerKit()
    _ = kit.allocate(lifetime: 3_600)
    let second = ServerKit.address("198.51.100.21", 7_000)
    #expect(kit.bind(0x4001, to: Self.peer)?.code == nil)
    #expect(kit.bind(0x4001, to: Self.peer)?.code == nil)
    #expect(kit.bind(0x4001, to: second)?.code == 400)
    #expect(kit.bind(0x4002, to: Self.peer)?.code == 400)
    #expect(kit.bind(0x3FFF, to: second)?.code == 400 && kit.bind(0x8000, to: second)?.code == 400)
    kit.wait(899)
    #expect(kit.bind(0x4001, to: second)?.code == 400)
    kit.wait(1)
    #expect(kit.bind(0x4001, to: second)?.code == nil)
  }

  @Test func `an allocation has limits of permissions and channels`() {
    var kit = ServerKit {
      $0.limits.permissions = 2
      $0.limits.channels = 1
    }
    _ = kit.allocate()
    let peers = (1...3).map { ServerKit.address("198.51.100.\($0)", 7_000) }
    #expect(kit.permit(peers)?.code == 508)
    #expect(kit.permit(Array(peers.prefix(2)))?.code == nil)
    #expect(kit.permit(Array(peers.prefix(2)))?.code == nil)
    #expect(kit.bind(0x4000, to: peers[2])?.code == 508)
    #expect(kit.bind(0x4000, to: peers[0])?.code == nil)
    #expect(kit.bind(0x4001, to: peers[1])?.code == 508)
  }

  @Test(arguments: [
    "127.0.0.1", "127.9.9.9", "0.0.0.0", "0.1.2.3", "169.254.1.1", "224.0.0.1", "239.1.1.1", "255.255.255.255",
    "240.0.0.1", "169.254.169.254", "100.100.100.200", "168.63.129.16", "::1", "::", "fe80::1", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:198.51.100.20", "::127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1",
    "2001:0:1::1",
  ])
  func `an address that is no peer's is forbidden even where private ones are allowed`(text: String) {
    for allowsPrivatePeers in [false, true] { Self.expect(403, for: text, allowsPrivatePeers: allowsPrivatePeers) }
  }

  @Test(arguments: [
    "10.0.0.1", "172.16.0.1", "172.31.255.1", "192.168.1.1", "100.64.0.1", "192.0.0.8", "198.18.0.1", "198.19.0.1",
    "fd00::1", "fec0::1",
  ])
  func `private addresses are allowed only if the user says so`(text: String) {
    Self.expect(403, for: text, allowsPrivatePeers: false)
    Self.expect(nil, for: text, allowsPrivatePeers: true)
  }

  @Test(arguments: ["198.51.100.20", "172.32.0.1", "192.169.0.1", "100.128.0.1", "198.20.0.1", "2001:db8::20"])
  func `public addresses are allowed`(text: String) { Self.expect(nil, for: text, allowsPrivatePeers: false) }

  private static func expect(_ code: UInt16?, for text: String, allowsPrivatePeers: Bool) {
    var kit = ServerKit {
      $0.allowsPrivatePeers = allowsPrivatePeers
      $0.relayIPs.append(IPAddress("2001:db8::1")!)
    }
    _ = kit.request(.allocate) {
      $0.write(.requestedTransport, 17 << 24)
      $0.write(.additionalAddressFamily, .v6)
    }
    let peer = ServerKit.address(text, 7_000)
    #expect(kit.permit([peer])?.code == code, "permission, \(text)")
    #expect(kit.bind(0x4000, to: peer)?.code == code, "channel, \(text)")
    kit.sent = []
    kit.indicate([1], to: peer)
    #expect(kit.take().count == (code == nil ? 1 : 0), "data, \(text)")
  }

  @Test func `of the server's own machine only its media and relayed addresses are reached`() {
    var kit = ServerKit { $0.openPorts = [5_004] }
    _ = kit.allocate()
    let own = { (port: UInt16) in SocketAddress(ip: ServerKit.relayIP, port: port) }
    #expect(kit.permit([own(1)])?.code == nil)
    for port: UInt16 in [22, 53, 3_478, 8_080] {
      kit.indicate([1], to: own(port))
      #expect(kit.take().isEmpty, "port \(port)")
    }
    kit.indicate([1], to: own(5_004))
    #expect(kit.take().count == 1)
  }

  @Test func `two clients reach each other by their relayed addresses, within the server`() throws {
    var kit = ServerKit { $0.outside = [ServerKit.relayIP: IPAddress("198.51.100.99")!] }
    let (first, second) = (ServerKit.client, ServerKit.other)
    let one = try #require(kit.allocate(from: first)?.relayed.first)
    let two = try #require(kit.allocate(from: second, user: "user")?.relayed.first)
    #expect(one.ip == IPAddress("198.51.100.99"))
    #expect(kit.permit([two], from: first)?.code == nil && kit.permit([one], from: second)?.code == nil)
    #expect(kit.bind(0x4000, to: one, from: second)?.code == nil)
    kit.indicate([9], to: two, from: first)
    let sent = kit.take()
    #expect(sent.map(\.route) == [second] && sent.map(\.bytes) == [[0x40, 0, 0, 1, 9]])
  }

  @Test func `ports of services that answer with more are not sent to`() {
    var kit = ServerKit()
    _ = kit.allocate()
    #expect(kit.permit([Self.peer])?.code == nil)
    for port: UInt16 in [53, 123, 161, 1_900, 11_211] {
      kit.indicate([1], to: SocketAddress(ip: Self.peer.ip, port: port))
    }
    #expect(kit.take().isEmpty)
    kit.indicate([1], to: SocketAddress(ip: Self.peer.ip, port: 443))
    #expect(kit.take().count == 1)
  }

  @Test func `an allocation relays so many bytes in a second each way`() {
    var kit = ServerKit { $0.limits.bytesPerSecond = 100_000 }
    _ = kit.allocate()
    _ = kit.bind(0x4000, to: Self.peer)
    let data = [UInt8](repeating: 1, count: 1_000)
    for _ in 0..<100 { kit.channelData(data, 0x4000) }
    #expect(kit.take().count == 65)
    for _ in 0..<100 { kit.arrive(data) }
    #expect(kit.take().count == 65)
    #expect(kit.server.counters.dropsOverRate == 70)
    var count = 0
    for _ in 0..<20 {
      kit.now += .milliseconds(500)
      for _ in 0..<100 { kit.channelData(data, 0x4000) }
      count += kit.take().count
    }
    #expect((990...1_001).contains(count), "\(count) of 1,000 in ten seconds")
    #expect(kit.server.counters.toPeers.bytes == (65 + count) * 1_000)
  }

  @Test func `messages that are none, or of strangers, get no answer and do no harm`() {
    var kit = ServerKit()
    _ = kit.allocate()
    let good = ServerKit.message(.request, .refresh, STUNTransactionID(high: 1, low: 2)) { _ in }
    for bytes in [[], [0], [0x40, 0, 0, 9, 1], [0xFF, 1, 2, 3], Array(good.dropLast()), Array(good.prefix(20))] {
      kit.send(bytes)
      kit.send(bytes, from: ServerKit.other)
    }
    kit.indicate([1], to: Self.peer, from: ServerKit.other)
    #expect(kit.take().allSatisfy { $0.bytes.count < 120 } && kit.open.count == 1)
  }
}
