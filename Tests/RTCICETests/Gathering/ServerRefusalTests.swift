import RTCICE
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// Servers that refuse, lie, or send on: each is told with its reason, and none is asked without end.
@Suite struct ServerRefusalTests {
  private func world(
    _ change: (inout TURNServerEmulator.Options) -> Void, username: String = "user", credential: String = "secret",
    transport: CandidateGatherer.Server.Transport = .udp
  ) -> NATWorld {
    let world = NATWorld()
    world.addServer(change)
    world.addHost().addTURN(transport: transport, username: username, credential: credential)
    return world
  }

  private func requests(_ world: NATWorld) -> Int { world.servers[0].emulator.requests[.allocate] ?? 0 }

  @Test func `a wrong credential is told once and not tried again`() {
    let world = world({ _ in }, credential: "wrong")
    world.run(for: .seconds(3_600))
    #expect(world.hosts[0].failures == [.unauthorized] && requests(world) == 2)
    #expect(world.hosts[0].gatherer.isComplete == true)
  }

  @Test func `missing credentials are told as such`() {
    let world = world({ _ in }, username: "", credential: "")
    world.run(for: .seconds(3_600))
    #expect(world.hosts[0].failures == [.credentialsMissing] && requests(world) == 1)
  }

  @Test func `a server that asks for no credentials gets none`() {
    let world = world({ $0.users = nil }, username: "", credential: "")
    world.run(for: .seconds(1))
    #expect(world.hosts[0].candidates(.relayed).count == 1 && requests(world) == 1)
  }

  @Test func `a stale nonce is replaced, ever new ones are not followed`() {
    let world = world({ _ in })
    let host = world.hosts[0]
    world.run(for: .seconds(1))
    world.servers[0].emulator.expireNonces()
    world.run(for: .seconds(100))
    #expect(host.failures.isEmpty && host.candidates(.relayed).count == 1)

    let other = self.world({ $0.isNeverContent = true })
    other.run(for: .seconds(4))
    #expect(other.hosts[0].failures == [.staleNonces] && requests(other) == 5)
    other.run(for: .seconds(3_600))
    #expect(requests(other) < 100)
    other.servers[0].emulator.options.isNeverContent = false
    other.run(for: .seconds(400))
    #expect(other.hosts[0].candidates(.relayed).count == 1)
  }

  @Test func `another realm than the first one is a lie`() {
    let world = world({ _ in })
    let host = world.hosts[0]
    world.run(for: .seconds(1))
    world.servers[0].emulator.options.realm = "evil.example"
    world.servers[0].emulator.expireNonces()
    world.run(for: .seconds(100))
    #expect(host.failures == [.realmChanged])
    // What was granted serves to its end.
    #expect(host.candidates(.relayed).count == 1)
    world.run(for: .seconds(600))
    #expect(host.candidates(.relayed).isEmpty == true)
  }

  @Test func `credentials that expire in use are told, and the allocation serves to its end`() {
    let world = world({ _ in })
    let host = world.hosts[0]
    world.run(for: .seconds(120))
    world.servers[0].emulator.options.users = ["user": "another"]
    world.run(for: .seconds(100))
    #expect(host.failures == [.credentialsExpired] && host.candidates(.relayed).count == 1)
    world.run(for: .seconds(600))
    #expect(host.failures == [.credentialsExpired, .credentialsExpired] && host.candidates(.relayed).isEmpty)
  }

  @Test func `newer credentials serve the next allocation and leave this one alone`() {
    let world = world({ $0.users = ["old": "a", "new": "b"] }, username: "old", credential: "a")
    let host = world.hosts[0]
    world.run(for: .seconds(120))
    let relayed = host.candidates(.relayed)
    host.addTURN(username: "new", credential: "b")
    world.servers[0].emulator.options.users = ["new": "b"]
    world.run(for: .seconds(70))
    #expect(relayed.count == 1 && host.candidates(.relayed) == relayed && host.failures == [.credentialsExpired])
    world.run(for: .seconds(600))
    #expect(host.candidates(.relayed).count == 1 && host.candidates(.relayed) != relayed)
    #expect(world.servers[0].emulator.allocationCount(at: world.now) == 1)

    let refused = self.world({ _ in }, credential: "wrong")
    refused.run(for: .seconds(120))
    refused.hosts[0].addTURN()
    refused.run(for: .seconds(1))
    #expect(refused.hosts[0].candidates(.relayed).count == 1)
  }

  @Test(
    arguments: [STUNRefusal.quota, .capacity]) func `a full server is asked again later`(
      refusal: STUNRefusal
    )
  {
    let world = world({ if refusal == .quota { $0.quota = 0 } else { $0.capacity = 0 } })
    let host = world.hosts[0]
    world.run(for: .seconds(4))
    #expect(host.failures == [refusal == .quota ? .quotaReached : .insufficientCapacity])
    world.run(for: .seconds(3_600))
    #expect((8...24).contains(host.failures.count))
    world.servers[0].emulator.options.quota = 1
    world.servers[0].emulator.options.capacity = 1
    world.run(for: .seconds(400))
    #expect(host.candidates(.relayed).count == 1)
  }

  @Test func `errors without integrity are believed where nothing can be lost`() {
    let world = world({
      $0.quota = 0
      $0.authenticatesErrors = false
    })
    world.run(for: .seconds(4))
    #expect(world.hosts[0].failures == [.quotaReached])
  }

  @Test func `answers of another password count as none`() {
    for (transport, expected) in [(CandidateGatherer.Server.Transport.udp, 39.5), (.tcp, 0)] as [(_, Double)] {
      let world = world({ $0.forgesIntegrity = true }, transport: transport)
      let time = world.run(for: .seconds(60)) { !world.hosts[0].failures.isEmpty }
      #expect(world.hosts[0].failures == [.badIntegrity] && world.hosts[0].candidates(.relayed).isEmpty)
      #expect(time >= .seconds(transport == .udp ? 1.9 : expected))
    }
  }

  @Test(arguments: [STUNErrorCode.forbidden, .unsupportedTransport, .wrongCredentials, .badRequest])
  func `a refusal for good is not repeated`(code: STUNErrorCode) {
    let world = world({ $0.allocationError = code })
    world.run(for: .seconds(3_600))
    #expect(world.hosts[0].failures.count == 1 && requests(world) <= 3)
    #expect("\(world.hosts[0].failures[0])".hasSuffix("."))
  }

  @Test func `a redirection is followed, once or twice, and never in a circle`() {
    let world = NATWorld()
    for _ in 0..<2 { world.addServer() }
    world.servers[0].emulator.options.alternate = world.servers[1].address
    let host = world.addHost()
    host.addTURN()
    world.run(for: .seconds(1))
    #expect(host.candidates(.relayed).first?.address.ip == world.servers[1].address.ip)
    #expect(host.expects(Route(local: host.address, remote: world.servers[1].address)))

    world.servers[1].emulator.options.alternate = world.servers[0].address
    let another = world.addHost()
    another.addTURN()
    world.run(for: .seconds(1))
    #expect(another.failures == [.redirectRefused])
  }

  @Test(arguments: ["127.0.0.1", "169.254.169.254", "224.0.0.1", "0.0.0.0", "2001:db8::1"])
  func `a redirection to where nobody may send us is refused`(ip: String) {
    let world = world({ $0.alternate = SocketAddress(ip: IPAddress(ip)!, port: 80) })
    world.run(for: .seconds(1))
    #expect(world.hosts[0].failures == [.redirectRefused])
  }

  @Test func `a redirection on a stream names where to connect to`() {
    let alternate = SocketAddress(ip: IPAddress("198.51.100.9")!, port: 443)
    let world = world({ $0.alternate = alternate }, transport: .tcp)
    world.run(for: .seconds(1))
    #expect(world.hosts[0].failures == [.redirected(to: alternate)])
  }

  @Test func `a stream that does not answer fails after ten seconds and is left to its owner`() {
    let world = world({ $0.isDead = true }, transport: .tls)
    let time = world.run(for: .seconds(60)) { !world.hosts[0].failures.isEmpty }
    #expect(time == .seconds(10))
    world.run(for: .seconds(3_600))
    #expect(world.hosts[0].failures == [.noAnswer(after: .seconds(10))])
  }

  @Test(arguments: ["0.0.0.0", "127.0.0.1", "224.1.2.3"]) func `an impossible relayed address is refused`(ip: String) {
    let world = world({ $0.relayIPs = [IPAddress(ip)!] })
    world.run(for: .seconds(1))
    #expect(world.hosts[0].candidates(.relayed).isEmpty && world.hosts[0].failures.count == 1)
  }

  enum STUNRefusal: Sendable {
    case quota
    case capacity
  }
}
