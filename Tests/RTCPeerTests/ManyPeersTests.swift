import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

/// One loop and very many peers.
@Suite(.timeLimit(.minutes(3)), .serialized) struct ManyPeers {
  @Test func `two thousand peers of one loop connect, and all that listen hear one sound`() async throws {
    let loop = try PeerLoop(TwoConnections.options)
    let sound = loop.makeAudioTrack()
    let pairs = 1_000
    let heard = Heard()
    var callers: [PeerConnection] = []
    var callees: [PeerConnection] = []
    // A few calls at a time, as they come in life.
    for begin in stride(from: 0, to: pairs, by: 50) {
      try await withThrowingTaskGroup(of: (PeerConnection, PeerConnection).self) { group in
        for number in begin..<begin + 50 {
          group.addTask { try await Self.connect(on: loop, sound, number, heard) }
        }
        for try await (caller, callee) in group {
          callers.append(caller)
          callees.append(callee)
        }
      }
    }
    #expect(callers.count + callees.count == 2_000)
    var source = SyntheticAudio()
    sound.send(source.next())
    await heard.wait(for: pairs)
    for connection in callers { await connection.close() }
    for callee in callees {
      var state: PeerState?
      for await event in callee.events { if case .stateChanged(let new) = event { state = new } }
      #expect(state == .ended(.closedRemotely))
    }
    loop.stop()
  }

  @Test func `a loop takes no more peers than it may`() async throws {
    var options = TwoConnections.options
    options.maximumPeers = 2
    let loop = try PeerLoop(options)
    var configuration = PeerConnection.Configuration()
    configuration.receivesVideo = true
    let connections = (0..<3).map { _ in PeerConnection(on: loop, configuration: configuration) }
    for connection in connections.prefix(2) { _ = try await connection.createOffer() }
    await #expect(throws: TooManyPeers.self) { try await connections[2].createOffer() }
    await connections[0].close()
    _ = try await connections[2].createOffer()
    loop.stop()
  }

  private static func connect(
    on loop: PeerLoop, _ sound: OutgoingAudioTrack, _ number: Int, _ heard: Heard
  ) async throws -> (PeerConnection, PeerConnection) {
    let caller = PeerConnection(on: loop, configuration: PeerConnection.Configuration(audio: sound))
    var configuration = PeerConnection.Configuration()
    configuration.receivesAudio = true
    let callee = PeerConnection(on: loop, configuration: configuration)
    try await caller.accept(answer: callee.answer(to: caller.createOffer()))
    for connection in [caller, callee] {
      for await event in connection.events {
        if case .trackAdded(.audio(let track)) = event { track.setReceiver { _ in heard.add(number) } }
        if case .stateChanged(.connected) = event { break }
        if case .stateChanged(.ended(let reason)) = event { throw Ended(reason: reason) }
      }
    }
    return (caller, callee)
  }

  private struct Ended: Error {
    var reason: EndReason
  }

  /// The peers that have received the sound.
  private final class Heard: Sendable {
    private let numbers = Mutex(Set<Int>())
    private let changes = AsyncStream.makeStream(of: Int.self)

    func add(_ number: Int) {
      changes.continuation.yield(
        numbers.withLock {
          $0.insert(number)
          return $0.count
        })
    }

    func wait(for count: Int) async {
      for await now in changes.stream where now >= count { return }
    }
  }
}
