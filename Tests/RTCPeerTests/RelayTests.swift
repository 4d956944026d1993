import FeatureKit
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCTestKit
import Synchronization
import Testing

/// Connections that only a relay carries, by a real TURN server.
@Suite(.timeLimit(.minutes(1)), .serialized) struct RelayTests {
  private static func loop(_ coturn: Coturn, _ url: String) throws -> PeerLoop {
    var options = TwoConnections.options
    options.iceServers = [try coturn.server(url)]
    options.iceTransportPolicy = .relay
    options.trustedCertificates = coturn.certificate
    return try PeerLoop(options)
  }

  private static func url(_ transport: String, _ coturn: Coturn) -> String {
    transport == "tls" ? "turns:127.0.0.1:\(coturn.tlsPort)" : "turn:127.0.0.1:\(coturn.port)?transport=\(transport)"
  }

  @Test(arguments: ["udp", "tcp", "tls"]) func `sound, pictures and messages go by relays alone`(transport: String)
    async throws
  {
    let coturn = try Coturn()
    let url = Self.url(transport, coturn)
    let pair = TwoConnections(try Self.loop(coturn, url), try Self.loop(coturn, url))
    for connection in [pair.caller, pair.callee] { await connection.gathered(within: .seconds(10)) }
    let (sound, picture) = (
      pair.loop.makeAudioTrack(), pair.calleeLoop.makeVideoTrack(onKeyFrameRequest: {})
    )
    let (audio, video) = try await pair.cross(sound, picture)
    let (packet, frame) = await pair.carry(sound, to: audio, picture, to: video)
    #expect(packet != nil)
    #expect(frame != nil)
    let channel = try await pair.caller.createDataChannel("chat")
    #expect(await isOpen(channel))
    for end in [pair.caller, pair.callee] {
      let route = try #require(await end.statistics().selectedRoute)
      #expect(route.kind.headroom == 4, "\(route) goes by no relay")
    }
    await pair.close()
  }

  @Test func `a relayed candidate that comes late is told of, and the connection is made by it`() async throws {
    let coturn = try Coturn()
    var options = TwoConnections.options
    options.iceTransportPolicy = .relay
    let pair = TwoConnections(try PeerLoop(options), try Self.loop(coturn, Self.url("udp", coturn)))
    await pair.callee.gathered(within: .seconds(10))
    _ = try await pair.caller.createDataChannel("chat")
    // The offer is made, without a single candidate.
    await pair.caller.setICEServers([try coturn.server(Self.url("udp", coturn))])
    let told = await first(of: pair.caller.events) { event -> ICECandidateInit? in
      if case .localCandidate(let candidate) = event { candidate } else { nil }
    }
    let candidate = try #require(told)
    #expect(candidate.candidate.contains("typ relay"))
    try await pair.callee.addRemoteCandidate(candidate)
    #expect(
      await first(of: pair.caller.events) { if case .stateChanged(.connected) = $0 { true } else { nil } } == true)
    await pair.close()
  }

  @Test func `packets of one size leave in few system calls by a relay too`() async throws {
    let coturn = try Coturn()
    let url = Self.url("udp", coturn)
    let pair = TwoConnections(try Self.loop(coturn, url), try Self.loop(coturn, url))
    for connection in [pair.caller, pair.callee] { await connection.gathered(within: .seconds(10)) }
    let picture = pair.loop.makeVideoTrack(onKeyFrameRequest: {})
    _ = try await pair.caller.addTrack(.video(picture))
    async let calling = pair.ready(pair.caller, tracks: 0, sending: 1)
    async let called = pair.ready(pair.callee, tracks: 1, sending: 0)
    let (_, tracks) = await (calling, called)
    guard case .video(let video)? = tracks.first else { throw TwoConnections.OtherTracks(caller: [], callee: tracks) }
    let (frames, feed) = AsyncStream.makeStream(of: ReceivedFrame.self)
    video.setReceiver { feed.yield($0) }
    var limits = BitrateLimits(maximum: .megabitsPerSecond(40))
    limits.minimum = limits.maximum
    await pair.caller.setBitrates(limits)
    var pictures = SyntheticVideo(interval: .milliseconds(33), frameSize: 30_000, keyFrameSize: 30_000)
    picture.send(pictures.next(.zero + .seconds(1)))
    #expect(await first(of: frames) { $0 } != nil)
    // 25 packets and more; those of the handshake and of sound are alone.
    #expect(try #require(await pair.loop.networkCounters()).segmentedDatagrams >= 20)
    await pair.close()
  }

  @Test func `a call goes on when its relay is killed and another is there in its place`() async throws {
    let coturn = try Coturn()
    let url = Self.url("udp", coturn)
    let pair = TwoConnections(try Self.loop(coturn, url), try Self.loop(coturn, url))
    for connection in [pair.caller, pair.callee] { await connection.gathered(within: .seconds(10)) }
    let near = try await pair.caller.createDataChannel("chat")
    let far = try #require(
      await first(of: pair.callee.events) { if case .dataChannelOpened(let channel) = $0 { channel } else { nil } })
    #expect(await isOpen(near))
    for end in [pair.caller, pair.callee] {
      while await end.statistics().selectedPair == nil, !Task.isCancelled { await Task.yield() }
    }
    // Their new relayed candidates come after the restart's descriptions.
    let trickling = [(pair.caller, pair.callee), (pair.callee, pair.caller)].map { from, to in
      Task {
        for await event in from.events {
          if case .localCandidate(let candidate) = event { try? await to.addRemoteCandidate(candidate) }
        }
      }
    }
    coturn.kill()
    let other = try Coturn(after: coturn)
    try near.send("still here")
    var arrived: DataChannelMessage?
    for await event in far.events {
      if case .message(let message) = event {
        arrived = message
        break
      }
    }
    #expect(arrived == .text("still here"))
    await pair.close()
    for task in trickling { await task.value }
    _ = other
  }
}
