import RTCEngine
import RTCPeer
import RTCPrimitives
import Testing

/// Attacks of one remote peer on another's session.
@Suite(.timeLimit(.minutes(2))) struct HostilePeersTests {
  /// One connection's fate.
  private static func outcome(_ connection: PeerConnection) async -> PeerState? {
    for await event in connection.events {
      switch event {
      case .stateChanged(.connected): return .connected
      case .stateChanged(.ended(let reason)): return .ended(reason)
      default: break
      }
    }
    return nil
  }

  @Test func `a session that names another's address does not keep that one from connecting`() async throws {
    let (server, visitor, thief) = (
      try PeerLoop(TwoConnections.options), try PeerLoop(TwoConnections.options), try PeerLoop(TwoConnections.options)
    )
    defer { for loop in [server, visitor, thief] { loop.stop() } }
    var receiving = PeerConnection.Configuration()
    receiving.receivesVideo = true
    let track = server.makeVideoTrack {}
    // Several sessions say that their peer is where the visitor is, and send checks there.
    for _ in 0..<3 {
      let offer = try await PeerConnection(on: thief, configuration: receiving).createOffer()
      let lie = offer.replacing(" \(thief.port) typ", with: " \(visitor.port) typ")
      #expect(lie != offer)
      let session = PeerConnection(on: server, configuration: PeerConnection.Configuration(video: track))
      _ = try await session.answer(to: lie)
    }
    let calling = PeerConnection(on: visitor, configuration: receiving)
    let called = PeerConnection(on: server, configuration: PeerConnection.Configuration(video: track))
    try await calling.accept(answer: called.answer(to: calling.createOffer()))
    #expect(await Self.outcome(calling) == .connected)
    #expect(await Self.outcome(called) == .connected)
  }

  @Test func `who never comes gives its place back soon`() async throws {
    let loop = try PeerLoop(TwoConnections.options)
    defer { loop.stop() }
    var receiving = PeerConnection.Configuration()
    receiving.receivesVideo = true
    let offer = try await PeerConnection(on: loop, configuration: receiving).createOffer()
    let silent = offer.replacing(#/ [0-9a-f.:]+ [0-9]+ typ/#, with: " 127.0.0.1 9 typ")
    var waiting = PeerConnection.Configuration(video: loop.makeVideoTrack {})
    waiting.firstContactTimeout = .milliseconds(200)
    let session = PeerConnection(on: loop, configuration: waiting)
    _ = try await session.answer(to: silent)
    #expect(await Self.outcome(session) == .ended(.timedOut))
  }
}
