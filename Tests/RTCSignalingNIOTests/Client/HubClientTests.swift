import FeatureKit
import Logging
import NIOCore
import NIOPosix
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Testing

/// The Swift client and the hub, on real sockets.
@Suite(.timeLimit(.minutes(1))) struct HubClientTests {
  private static func configuration(port: UInt16 = 0, token: String? = nil) -> SignalingServerConfiguration {
    SignalingServerConfiguration(
      listen: ListenAddress(host: HostName("127.0.0.1"), port: port),
      gate: token.flatMap { AccessToken($0) }.map { AccessGate(secret: $0) } ?? .open(),
      hub: HubConfiguration(
        iceServers: [ICEServer([ICEServerURL(scheme: .stun, host: "s.example")])]
      ))
  }

  private static func address(_ server: SignalingServer, secure: Bool = false) throws -> HubAddress {
    try #require(HubAddress("\(secure ? "wss" : "ws")://\(server.address)"))
  }

  private static func quick(_ change: (inout HubClient.Configuration) -> Void = { _ in }) -> HubClient.Configuration {
    var configuration = HubClient.Configuration()
    configuration.session.firstPause = .milliseconds(10)
    change(&configuration)
    return configuration
  }

  @Test(.feature("S0.58", "S3.6", "S3.13")) func `two clients register, meet in a room and call each other`()
    async throws
  {
    try await Bench.run(Self.configuration()) { bench in
      let address = try Self.address(bench.server)
      let (alice, bob) = (HubClient(address: address), HubClient(address: address))
      let registration = try await alice.connect(as: "alice")
      #expect(registration == HubRegistration(id: "alice", iceServers: [try ICEServer(parsing: ["stun:s.example"])]))
      #expect(try await bob.connect(as: nil).id.utf8.count == 36)
      var (hers, his) = (alice.events.makeAsyncIterator(), bob.events.makeAsyncIterator())
      #expect(await hers.next() == .registered(registration))
      guard case .registered(let other)? = await his.next() else { Issue.record("not registered"); return }
      alice.join("den")
      #expect(await hers.next() == .peers(room: "den", []))
      bob.join("den")
      #expect(await his.next() == .peers(room: "den", ["alice"]))
      #expect(await hers.next() == .peerJoined(room: "den", peer: other.id))
      let ring = CallSignal(call: "k", .ring(media: ["audio": true], room: "den"))
      bob.send(.signal(data: ring.json), to: "alice")
      bob.send(.candidate(ICECandidateInit(candidate: "c", sdpMid: "0"), call: "k"), to: "alice")
      bob.send(.bye(reason: "busy", call: "k"), to: "alice")
      #expect(await hers.next() == .signal(from: other.id, data: ring.json, call: nil))
      #expect(await hers.next() == .candidate(from: other.id, ICECandidateInit(candidate: "c", sdpMid: "0"), call: "k"))
      #expect(await hers.next() == .bye(from: other.id, reason: "busy", call: "k"))
      alice.send(.signal(data: "not JSON"), to: "bob")
      guard case .refused(let refusal)? = await hers.next() else { Issue.record("not refused"); return }
      #expect(refusal.code == "malformed")
      await bob.close()
      #expect(await his.next() == .ended(nil))
      #expect(await his.next() == nil)
      #expect(await hers.next() == .peerLeft(room: "den", peer: other.id))
      await alice.close()
      await alice.close()
    }
  }

  @Test(.feature("S3.50"))
  func `a hub that goes and comes back finds its clients again, and what they said meanwhile arrives`()
    async throws
  {
    let sessions = CannedSessions()
    let logger = Logger(label: "test")
    let first = try await SignalingServer.start(Self.configuration(), sessions: sessions, logger: logger)
    let address = try Self.address(first)
    let (alice, bob) = (
      HubClient(address: address, configuration: Self.quick()), HubClient(address: address, configuration: Self.quick())
    )
    _ = try await alice.connect(as: "alice")
    _ = try await bob.connect(as: "bob")
    alice.join("den")
    var hers = alice.events.makeAsyncIterator()
    var his = bob.events.makeAsyncIterator()
    _ = await (hers.next(), hers.next(), his.next())
    await first.shutdown()
    while let event = await his.next() { if case .disconnected = event { break } }
    bob.send(.signal(data: "7"), to: "bob")
    let second = try await SignalingServer.start(
      Self.configuration(port: first.address.port), sessions: sessions, logger: logger)
    var (wasBack, hadRoom) = (false, false)
    while !(wasBack && hadRoom), let event = await hers.next() {
      if case .registered(let again) = event { wasBack = again.id == "alice" && !again.isResumed }
      if case .peers("den", []) = event { hadRoom = true }
    }
    #expect(wasBack && hadRoom)
    while let event = await his.next() {
      if case .signal(let from, "7", _) = event {
        #expect(from == "bob")
        break
      }
    }
    await alice.close()
    await bob.close()
    await second.shutdown()
  }

  @Test(.feature("S3.50")) func `after a restart of the hub a call finds who is not back yet`() async throws {
    let sessions = CannedSessions()
    let logger = Logger(label: "test")
    var configuration = Self.configuration()
    configuration.hub?.limits.returnTime = .seconds(40)
    let first = try await SignalingServer.start(configuration, sessions: sessions, logger: logger)
    let address = try Self.address(first)
    let alice = HubClient(address: address, configuration: Self.quick())
    // He comes back only when the hub has been there for a while.
    let bob = HubClient(
      address: address, configuration: Self.quick { $0.session.firstPause = .milliseconds(300) })
    _ = try await alice.connect(as: "alice")
    _ = try await bob.connect(as: "bob")
    var hers = alice.events.makeAsyncIterator()
    var his = bob.events.makeAsyncIterator()
    _ = await (hers.next(), his.next())
    await first.shutdown()
    while let event = await hers.next() { if case .disconnected = event { break } }
    alice.send(.signal(data: "7"), to: "bob")
    configuration.listen = ListenAddress(host: HostName("127.0.0.1"), port: first.address.port)
    let second = try await SignalingServer.start(configuration, sessions: sessions, logger: logger)
    while let event = await his.next() {
      if case .signal(let from, "7", _) = event {
        #expect(from == "alice")
        break
      }
    }
    alice.send(.signal(data: "8"), to: "alice")
    var refusals: [HubRefusal] = []
    while let event = await hers.next() {
      if case .refused(let refusal) = event { refusals.append(refusal) }
      if case .signal("alice", "8", _) = event { break }
    }
    #expect(refusals.isEmpty)
    await alice.close()
    await bob.close()
    await second.shutdown()
  }

  @Test func `over TLS a certificate is checked by its roots or by the application`() async throws {
    var configuration = Self.configuration()
    configuration.tls = TLSIdentity(
      certificates: Array(TestCertificate.certificate.utf8), privateKey: Array(TestCertificate.privateKey.utf8))
    try await Bench.run(configuration) { bench in
      #expect(bench.server.link.hasPrefix("https://"))
      let address = try Self.address(bench.server, secure: true)
      let distrustful = HubClient(address: address)
      await #expect(
        throws: HubClientError.tls(
          address,
          reason:
            "this machine does not trust the server's certificate; to trust it, name its PEM file in SSL_CERT_FILE")
      ) {
        try await distrustful.connect(as: "alice")
      }
      let pinned = HubClient(address: address, configuration: Self.quick { $0.trustsCertificate = { $0.count > 100 } })
      #expect(try await pinned.connect(as: "alice").id == "alice")
      let wrong = HubClient(address: address, configuration: Self.quick { $0.trustsCertificate = { _ in false } })
      await #expect(throws: HubClientError.self) { try await wrong.connect(as: "bob") }
      await pinned.close()
      let plain = HubClient(address: try Self.address(bench.server))
      await #expect(throws: HubClientError.self) { try await plain.connect(as: "carol") }
    }
  }

  @Test func `what stands in the way is said`() async throws {
    try await Bench.run(Self.configuration(token: "sesame")) { bench in
      let address = try Self.address(bench.server)
      await #expect(throws: HubClientError.badToken(hadToken: false)) {
        try await HubClient(address: address).connect(as: "a")
      }
      await #expect(throws: HubClientError.badToken(hadToken: true)) {
        try await HubClient(address: address, token: "x").connect(as: "a")
      }
      let alice = HubClient(address: address, token: "sesame")
      _ = try await alice.connect(as: "alice")
      await #expect(throws: HubClientError.alreadyConnected) { try await alice.connect(as: "alice") }
      await #expect(throws: HubClientError.nameTaken("alice")) {
        try await HubClient(address: address, token: "sesame").connect(as: "alice")
      }
      await #expect(throws: HubClientError.badName("The name cannot be used: it contains /, which addresses need.")) {
        try await HubClient(address: address, token: "sesame").connect(as: "a/b")
      }
      let page = try #require(HubAddress("ws://\(bench.server.address)/nothing"))
      await #expect(throws: HubClientError.notAHub(page, status: 404)) {
        try await HubClient(address: page).connect(as: "a")
      }
      await alice.close()
    }
    let gone = try #require(HubAddress("ws://127.0.0.1:1"))
    await #expect(throws: HubClientError.refusedConnection(gone)) {
      try await HubClient(address: gone).connect(as: "a")
    }
    let unknown = try #require(HubAddress("ws://nobody.invalid"))
    await #expect(throws: HubClientError.unknownHost("nobody.invalid")) {
      try await HubClient(address: unknown).connect(as: "a")
    }
  }

  @Test(.feature("S3.21")) func `a server that takes the connection and says nothing is given up after the time-out`()
    async throws
  {
    let mute = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { $0.eventLoop.makeSucceededVoidFuture() }
      .bind(host: "127.0.0.1", port: 0).get()
    let port = try #require(mute.localAddress?.port)
    let address = try #require(HubAddress("ws://127.0.0.1:\(port)"))
    let client = HubClient(address: address, configuration: Self.quick { $0.session.timeout = .milliseconds(100) })
    await #expect(throws: HubClientError.timeout(address, seconds: 1)) { try await client.connect(as: "a") }
    try await mute.close()
  }

  @Test func `a client that is closed before it is connected ends at once`() async throws {
    let client = HubClient(address: try #require(HubAddress("ws://127.0.0.1:1")))
    await client.close()
    var events = client.events.makeAsyncIterator()
    #expect(await events.next() == .ended(nil))
    await #expect(throws: HubClientError.closed) { try await client.connect(as: "a") }
  }
}
