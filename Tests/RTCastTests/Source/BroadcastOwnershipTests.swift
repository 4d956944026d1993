import RTCCapture
import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Testing

/// A broadcast goes on for those who hold it, and for nobody else. The time limits only end what would never end.
@Suite(.timeLimit(.minutes(1))) struct BroadcastOwnershipTests {
  private let source = WatchedCapturer()

  private static var loop: PeerLoop {
    get throws {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }
  }

  private func broadcast(on loop: PeerLoop) -> Broadcast {
    var options = Broadcast.Options()
    options.captureSize = PixelSize(width: 320, height: 180)
    return Broadcast(source, options: options, peers: loop)
  }

  @Test func `a broadcast that is let go stops its source, tells its viewers, and lets nobody in any more`()
    async throws
  {
    let (ours, theirs) = (try Self.loop, try Self.loop)
    var broadcast: Broadcast? = broadcast(on: ours)
    let (door, events) = (broadcast!.whep, broadcast!.events)
    try await broadcast?.start()
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let viewer = PeerConnection(on: theirs, configuration: configuration)
    let session = try await door.open(stream: nil, offer: try await viewer.createOffer(), remote: "127.0.0.1")
    try await viewer.accept(answer: session.answer)
    for await case .viewerJoined(session.id) in events { break }
    broadcast = nil
    #expect(await source.isStopped())
    var told: PeerState?
    for await event in viewer.events { if case .stateChanged(let state) = event { told = state } }
    #expect(told == .ended(.closedRemotely))
    var hasLeft = false
    for await event in events { if case .viewerLeft(session.id, .closedLocally) = event { hasLeft = true } }
    #expect(hasLeft)
    await #expect(throws: WHEPRefusal.streamNotNamed([])) {
      _ = try await door.open(stream: nil, offer: "", remote: "127.0.0.1")
    }
    ours.stop()
    theirs.stop()
  }

  @Test func `a paused broadcast that is let go ends too`() async throws {
    let loop = try Self.loop
    var broadcast: Broadcast? = broadcast(on: loop)
    let events = broadcast!.events
    try await broadcast?.start()
    broadcast?.pause()
    #expect(await source.isStopped())
    broadcast = nil
    for await _ in events {}
    loop.stop()
  }

  @Test func `one that was stopped before leaves its source to whoever starts it next`() async throws {
    let loop = try Self.loop
    let source = HandCapturer()
    var broadcast: Broadcast? = Broadcast(source, peers: loop)
    try await broadcast?.start()
    await broadcast?.stop()
    let stops = source.stops
    broadcast = nil
    let next = Broadcast(source, peers: loop)
    try await next.start()
    #expect(source.stops == stops)
    await next.stop()
    loop.stop()
  }
}
