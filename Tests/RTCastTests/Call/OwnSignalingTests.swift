import FeatureKit
import RTCCapture
import RTCCodecVPX
import RTCMedia
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// Calls over signaling that an application brought along; both peers share one media plane.
@Suite(.timeLimit(.minutes(1)), .serialized) struct OwnSignalingTests {
  private struct Ends {
    let plane: PeerLoop
    var alice: BenchPeer
    var bob: BenchPeer
    let lines: [ExchangeLine]

    init(
      _ exchange: Exchange, codecs: CodecRegistry = .standard, callerTimeout: TimeDelta? = nil,
      _ change: (inout CallConfiguration) -> Void = { _ in }
    ) async throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      let plane = try PeerLoop(options)
      let lines = ["alice", "bob"].map { ExchangeLine($0, exchange) }
      var configuration = CallConfiguration()
      configuration.captureSize = PixelSize(width: 320, height: 180)
      configuration.frameRate = 15
      change(&configuration)
      let ends = try lines.map {
        let microphone = SilentAudioDevice(microphone: ToneSource(frequency: 440))
        var configuration = configuration
        if let callerTimeout, $0.name == "alice" { configuration.connectionTimeout = callerTimeout }
        return BenchPeer(
          try CallManager.initialize(
            signalingServer: $0, config: configuration, audioDevice: microphone, codecs: codecs, peers: plane))
      }
      (self.plane, self.lines) = (plane, lines)
      (alice, bob) = (ends[0], ends[1])
      #expect(try await alice.calls.setupConnection() == "alice")
      #expect(try await bob.calls.setupConnection() == "bob")
    }

    /// Alice calls, Bob takes it.
    mutating func connect() async throws {
      try await alice.calls.sendCallRequest(to: "bob")
      #expect(try await bob.waitToRing() == "alice")
      try await bob.calls.answerCallRequest(accept: true)
    }

    func close() async {
      await alice.calls.disconnect()
      await bob.calls.disconnect()
      plane.stop()
    }
  }

  @Test(.feature("S0.32")) func `a call whose descriptions get lost is given up after the connection timeout`()
    async throws
  {
    var ends = try await Ends(Exchange(.lossy), callerTimeout: .milliseconds(300))
    try await ends.alice.calls.startRecording()
    try await ends.connect()
    #expect(try await ends.alice.waitForEnd() == .connectTimeout)
    await ends.close()
  }

  @Test(.feature("S0.15", "S0.16")) func `the changes of a batch make one offer`() async throws {
    let exchange = Exchange()
    var ends = try await Ends(exchange)
    try await ends.alice.calls.startRecording()
    try await ends.connect()
    try await ends.alice.waitForStart()
    let before = await exchange.offers.count
    await ends.alice.calls.startConfiguration()
    _ = try await ends.alice.calls.createDataChannel(label: "one")
    try await ends.alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
    _ = try await ends.alice.calls.createDataChannel(label: "two")
    #expect(await exchange.offers.count == before)
    await ends.alice.calls.commitConfiguration()
    try await ends.bob.waitForVideoAndChannels(["one", "two"])
    #expect(await exchange.offers.dropFirst(before) == ["alice"])
    await ends.close()
  }

  @Test(.feature("S0.15", "S0.16")) func `a call that begins within a batch makes its first offer at the end of it`()
    async throws
  {
    let exchange = Exchange()
    var ends = try await Ends(exchange)
    try await ends.alice.calls.startRecording()
    await ends.alice.calls.startConfiguration()
    try await ends.connect()
    try await ends.alice.wait { if case .callChanged(.connecting) = $0 { () } else { nil } }
    try await ends.alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
    #expect(await exchange.offers.isEmpty)
    await ends.alice.calls.commitConfiguration()
    try await ends.bob.waitForVideoAndChannels([])
    #expect(await exchange.offers == ["alice"])
    await ends.close()
  }

  @Test(.feature("S0.14", "S0.49", "S0.50", "S0.51", "S0.52"))
  func `the manager sets itself as delegate, connects, takes the name it is given, and disconnects`() async throws {
    let exchange = Exchange()
    let line = ExchangeLine("the name that the server chose", exchange)
    let calls = try CallManager.initialize(signalingServer: line)
    #expect(await !line.isOpen)
    #expect(try await calls.setupConnection() == "the name that the server chose")
    #expect(await calls.peerID == "the name that the server chose")
    #expect(await line.isOpen)
    #expect(await line.calls.prefix(2) == ["delegate", "connect"])
    await calls.disconnect()
    #expect(await !line.isOpen)
    #expect(await line.calls.last == "disconnect")
  }

  @Test(.feature("S0.3", "S0.53", "S0.55", "S1.3"))
  func `a call over an application's own signaling, to its end`() async throws {
    var ends = try await Ends(Exchange())
    try await ends.alice.calls.startRecording()
    try await ends.connect()
    let sounds = Sounds()
    try await ends.bob.waitForAudio().add(sounds)
    #expect(await sounds.hears(440))
    await ends.bob.calls.endCall()
    #expect(try await ends.alice.waitForEnd() == .hungUpRemotely)
    // The other side may have heard of it by the connection before.
    while await !ends.lines[1].calls.contains("end") { await Task.yield() }
    // Still registered: the other way round.
    try await ends.bob.calls.sendCallRequest(to: "alice")
    #expect(try await ends.alice.waitToRing() == "bob")
    await ends.close()
  }

  @Test(.feature("S1.10", "S3.7")) func `candidates that follow their description one by one connect a call`()
    async throws
  {
    var ends = try await Ends(Exchange(.trickled))
    try await ends.connect()
    try await ends.alice.waitForStart()
    try await ends.bob.waitForStart()
    for line in ends.lines { #expect(await line.calls.contains("candidate")) }
    await ends.close()
  }

  @Test(.feature("S0.54", "S3.43"))
  func `an address that a STUN server tells late goes as a candidate, after the offer`()
    async throws
  {
    let server = try LateSTUNServer()
    let servers = [try server.server]
    var ends = try await Ends(Exchange()) { $0.iceServers = servers }
    var signals = ends.lines[0].signals.makeAsyncIterator()
    try await ends.connect()
    guard case .description("offer", let sdp)? = await signals.next() else {
      Issue.record("The offer did not come first.")
      return
    }
    let (address, port) = LateSTUNServer.mapped
    #expect(sdp.contains("a=candidate:") && !sdp.contains(address))
    try server.answer()
    var candidates: [ICECandidateInit] = []
    // The empty one comes behind the last.
    while case .candidate(let candidate?)? = await signals.next() { candidates.append(candidate) }
    #expect(candidates.contains { $0.candidate.contains(" \(address) \(port) typ srflx") })
    try await ends.alice.waitForStart()
    try await ends.bob.waitForStart()
    await ends.close()
  }

  @Test(.feature("S0.56", "S0.57")) func `signaling hears of the network's going and coming`() async throws {
    let ends = try await Ends(Exchange())
    for change in [NetworkChange.lost, .returned, .changed] { await ends.alice.calls.note(change) }
    let told = await ends.lines[0].calls.filter { $0.hasSuffix("satisfied") }
    #expect(told.prefix(3) == ["unsatisfied", "satisfied", "satisfied"])
    await ends.close()
  }

  @Test(.feature("S1.17", "S4.13")) func `an application's own encoder and decoder take the place of ours`()
    async throws
  {
    let (encoders, decoders) = (Counter(), Counter())
    var codecs = CodecRegistry.standard
    codecs.register(.vp8, library: "mine") { settings throws(VideoEncoderError) in
      encoders.count()
      return try VP8Encoder(settings)
    }
    codecs.register(decoderOf: .vp8) { () throws(VideoDecoderError) in
      decoders.count()
      return try VP8Decoder()
    }
    #expect(codecs.library(for: .vp8) == "mine" && codecs.decodable.contains(.vp8))
    var ends = try await Ends(Exchange(), codecs: codecs)
    try await ends.alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
    try await ends.connect()
    let pictures = Pictures()
    try await ends.bob.waitForVideo().add(pictures)
    #expect(await pictures.next() != nil)
    #expect(encoders.value > 0 && decoders.value > 0)
    await ends.close()
  }

  private final class Counter: Sendable {
    private let number = Atomic(0)
    func count() { number.add(1, ordering: .relaxed) }
    var value: Int { number.load(ordering: .relaxed) }
  }
}
