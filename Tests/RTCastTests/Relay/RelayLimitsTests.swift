import RTCEngine
import RTCPeer
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// How many publications a relay takes, and how many viewers of each.
@Suite(.timeLimit(.minutes(1))) struct RelayLimitsTests {
  private final class Bench: Sendable {
    let relay: StreamRelay
    private let events = AsyncStream.makeStream(of: StreamRelay.Event.self)
    private let loops: Mutex<[PeerLoop]>

    init(streams: Int, viewersOfEach: Int) throws {
      var limits = StreamRelay.Limits()
      (limits.streams, limits.viewersOfEach) = (streams, viewersOfEach)
      let loop = try Self.makeLoop()
      loops = Mutex([loop])
      let report = events.continuation
      relay = StreamRelay(
        into: StreamDirectory(), limits: limits, makePeers: { loop }, report: { report.yield($0) })
    }

    private static func makeLoop() throws -> PeerLoop {
      var options = PeerLoop.Options()
      options.includesLoopback = true
      return try PeerLoop(options)
    }

    /// Somebody who publishes under `name`, not connected yet; and what the relay answered.
    func publisher(_ name: String) async throws -> (connection: PeerConnection, session: WHEPAnswer) {
      let loop = try Self.makeLoop()
      loops.withLock { $0.append(loop) }
      let publisher = PeerConnection(on: loop, configuration: .init(video: loop.makeVideoTrack {}))
      let offer = try await publisher.createOffer()
      return (publisher, try await relay.open(stream: name, offer: offer, remote: "127.0.0.1"))
    }

    /// Somebody who watches `name`: the session's identifier.
    func viewer(_ name: String) async throws -> String {
      let loop = try Self.makeLoop()
      loops.withLock { $0.append(loop) }
      var configuration = PeerConnection.Configuration()
      configuration.receivesVideo = true
      let viewer = PeerConnection(on: loop, configuration: configuration)
      let offer = try await viewer.createOffer()
      return try await relay.directory.open(stream: name, offer: offer, remote: "127.0.0.1").id
    }

    func next(_ wanted: StreamRelay.Event) async {
      for await event in events.stream where event == wanted { return }
    }

    func end() async {
      await relay.stop()
      for loop in loops.withLock({ $0 }) { loop.stop() }
    }
  }

  @Test func `the limits are those that the documentation names`() {
    let limits = StreamRelay.Limits()
    #expect(limits.streams == 64 && limits.viewersOfEach == 100)
  }

  @Test func `a publication beyond the limit is refused, until one has ended`() async throws {
    let bench = try Bench(streams: 2, viewersOfEach: 1)
    let first = try await bench.publisher("first")
    try await first.connection.accept(answer: first.session.answer)
    await bench.next(.published("first"))
    _ = try await bench.publisher("second")
    await #expect(throws: WHEPRefusal.tooManyStreams(limit: 2)) { _ = try await bench.publisher("third") }
    await first.connection.close()
    await bench.next(.ended("first"))
    _ = try await bench.publisher("third")
    await #expect(throws: WHEPRefusal.tooManyStreams(limit: 2)) { _ = try await bench.publisher("fourth") }
    await bench.end()
  }

  @Test func `a viewer beyond the limit of a publication is refused, and those of another are not`() async throws {
    let bench = try Bench(streams: 2, viewersOfEach: 2)
    _ = try await bench.publisher("first")
    _ = try await bench.publisher("second")
    let leaving = try await bench.viewer("first")
    _ = try await bench.viewer("first")
    await #expect(throws: WHEPRefusal.tooManyViewers(limit: 2)) { _ = try await bench.viewer("first") }
    _ = try await bench.viewer("second")
    #expect(await bench.relay.directory.close(id: leaving))
    await bench.end()
  }

  /// RFC 9725 section 4.2: after DELETE there is no session.
  @Test func `a publication that was closed is gone, and its name and place are free`() async throws {
    let bench = try Bench(streams: 1, viewersOfEach: 1)
    for _ in 0..<20 {
      let session = try await bench.publisher("again").session
      #expect(await bench.relay.close(id: session.id))
      #expect(await !bench.relay.close(id: session.id))
    }
    await bench.end()
  }
}
