import FeatureKit
import RTCCapture
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Testing

/// Calls live as long as somebody holds their manager. The time limit only ends what would never end.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CallOwnershipTests {
  @Test(.feature("S0.27"), arguments: [true, false])
  func `a call ends with the manager that nobody holds any more, and so do its source and its name`(
    sharesLoop: Bool
  ) async throws {
    try await CallBench.run { bench in
      let source = WatchedCapturer()
      var alice: BenchPeer? = try await bench.peer("alice", sharesLoop: sharesLoop)
      var bob = try await bench.peer("bob")
      let events = try #require(alice).calls.events
      try await alice?.calls.startVideoRecording(videoCapturer: source)
      try await alice?.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      try await bob.waitForStart()
      weak let manager = alice?.calls
      alice = nil
      #expect(try await bob.waitForEnd() == .hungUpRemotely)
      #expect(await source.isStopped())
      // They end behind everything else.
      for await _ in events {}
      #expect(manager == nil)
      try await bob.calls.sendCallRequest(to: "alice")
      #expect(try await bob.waitForEnd() == .unknownPeer)
      await bob.calls.disconnect()
    }
  }

  @Test func `who lets go while it rings stops the ringing, and who rings here is rejected`() async throws {
    try await CallBench.run { bench in
      var alice: BenchPeer? = try await bench.peer("alice")
      var bob: BenchPeer? = try await bench.peer("bob")
      try await alice?.calls.sendCallRequest(to: "bob")
      _ = try await bob?.waitToRing()
      alice = nil
      #expect(try await bob?.waitForEnd() == .hungUpRemotely)
      var carol = try await bench.peer("carol")
      try await carol.calls.sendCallRequest(to: "bob")
      _ = try await bob?.waitToRing()
      bob = nil
      #expect(try await carol.waitForEnd() == .rejected)
      await carol.calls.disconnect()
    }
  }

  @Test func `a room is left with the manager, whoever still holds the room`() async throws {
    try await CallBench.run { bench in
      var alice: BenchPeer? = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      let room = try #require(try await alice?.calls.join(room: "r"))
      _ = try await bob.calls.join(room: "r")
      try await bob.wait { if case .roomCallChanged("r", .connected) = $0 { () } else { nil } }
      #expect(await room.peers == ["bob"])
      alice = nil
      try await bob.wait { if case .peerLeft("r", "alice") = $0 { () } else { nil } }
      for await _ in room.events {}
      #expect(await room.peers.isEmpty)
      await bob.calls.disconnect()
    }
  }
}
