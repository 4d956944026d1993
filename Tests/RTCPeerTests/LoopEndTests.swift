import RTCEngine
import RTCPeer
import Testing

/// The peers of a loop that is stopped.
@Suite(.timeLimit(.minutes(1))) struct LoopEndTests {
  /// Things that should not outlive a call.
  private final class Remains {
    weak var sound: OutgoingAudioTrack?
    weak var picture: OutgoingVideoTrack?
    weak var caller: PeerConnection?
    weak var callee: PeerConnection?
    var isEmpty: Bool { sound == nil && picture == nil && caller == nil && callee == nil }
  }

  private func reasonOfEnd(_ connection: PeerConnection) async -> EndReason? {
    await first(of: connection.events) { if case .stateChanged(.ended(let reason)) = $0 { reason } else { nil } }
  }

  @Test func `they end, say goodbye, and are let go with all their tracks`() async throws {
    let remains = Remains()
    do {
      let pair = try TwoConnections()
      let (sound, picture) = (pair.loop.makeAudioTrack(), pair.calleeLoop.makeVideoTrack(onKeyFrameRequest: {}))
      (remains.sound, remains.picture, remains.caller, remains.callee) = (sound, picture, pair.caller, pair.callee)
      _ = try await pair.cross(sound, picture)
      // Nobody has closed a connection.
      pair.loop.stop()
      #expect(await reasonOfEnd(pair.caller) == .closedLocally)
      #expect(await reasonOfEnd(pair.callee) == .closedRemotely)
      await pair.close()
    }
    // Tasks that end by it may hold them for a moment.
    while !remains.isEmpty, !Task.isCancelled { await Task.yield() }
    #expect(remains.isEmpty)
  }
}
