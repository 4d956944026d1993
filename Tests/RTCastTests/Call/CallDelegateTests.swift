import FeatureKit
import RTCCapture
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCast
import Synchronization
import Testing

/// A call as an application hears of it: by delegate, under the familiar names, and by its own audio device.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CallDelegateTests {
  /// Writes down what it is told.
  private final class Log: CallManagerDelegate {
    private let lines: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation
    private let channels = Mutex<[DataChannel]>([])

    init() { (lines, continuation) = AsyncStream.makeStream(of: String.self) }

    func didReceiveIncomingCall(from peer: PeerID) { continuation.yield("incoming \(peer)") }
    func didAddLocalVideoTrack(_ track: LocalVideoTrack) { continuation.yield("local video") }
    func didAddLocalAudioTrack(_ track: LocalAudioTrack) { continuation.yield("local audio") }
    func didAddRemoteVideoTrack(_ track: RemoteVideoTrack) { continuation.yield("video of \(track.peer)") }
    func didAddRemoteAudioTrack(_ track: RemoteAudioTrack) { continuation.yield("audio of \(track.peer)") }
    func remoteVideoTrackWasRemoved(_ track: RemoteVideoTrack) { continuation.yield("no video of \(track.peer)") }
    func callDidStart() { continuation.yield("start") }
    func callDidEnd(withError error: CallManagerError?) { continuation.yield("end \(error?.sentence ?? "regularly")") }

    func didReceiveDataChannel(_ channel: DataChannel) {
      channels.withLock { $0.append(channel) }
      continuation.yield("channel \(channel.label)")
    }

    /// The next event as text; nil after the end.
    func next() async -> String? {
      for await line in lines { return line }
      return nil
    }

    /// Waits until all of these were told, whatever else comes.
    func wait(_ wanted: String...) async {
      var missing = Set(wanted)
      for await line in lines {
        missing.remove(line)
        if missing.isEmpty { return }
      }
    }
  }

  /// Two peers with a delegate each.
  private func run(
    _ body: (_ alice: CallManager, _ bob: CallManager, _ atAlice: Log, _ atBob: Log) async throws -> Void
  ) async throws {
    try await CallBench.run { bench in
      let alice = try await bench.peer("alice", SilentAudioDevice(microphone: ToneSource(frequency: 440))).calls
      let bob = try await bench.peer("bob").calls
      let (atAlice, atBob) = (Log(), Log())
      await alice.setCallManagerDelegate(atAlice)
      await bob.setCallManagerDelegate(atBob)
      try await body(alice, bob, atAlice, atBob)
      await alice.disconnect()
      await bob.disconnect()
    }
  }

  @Test(.feature("S0.7", "S0.59", "S0.65", "S0.66", "S0.67"))
  func `the delegate hears of a call from its ring to its end, and why it ended`() async throws {
    try await run { alice, bob, atAlice, atBob in
      try await alice.sendCallRequest(to: "bob")
      await atBob.wait("incoming alice")
      try await bob.answerCallRequest(accept: true)
      await atAlice.wait("start")
      await atBob.wait("start")
      let own = try await alice.createDataChannel(label: "chat")
      await atBob.wait("channel chat")
      #expect(own.label == "chat")
      await alice.endCall()
      await atAlice.wait("end regularly")
      await atBob.wait("end regularly")

      try await alice.sendCallRequest(to: "bob")
      await atBob.wait("incoming alice")
      try await bob.answerCallRequest(accept: false)
      await atAlice.wait("end bob did not take the call.")
    }
  }

  @Test(.feature("S0.60", "S0.61", "S0.62", "S0.63", "S3.16"))
  func `the delegate is given the tracks of both sides, with the name of whose they are`() async throws {
    try await run { alice, bob, atAlice, atBob in
      try await alice.startRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
      await atAlice.wait("local video", "local audio")
      try await alice.sendCallRequest(to: "bob")
      await atBob.wait("incoming alice")
      try await bob.answerCallRequest(accept: true)
      await atBob.wait("video of alice", "audio of alice")
    }
  }

  @Test(.feature("S0.64")) func `the delegate is told when a far picture is gone, by whoever's doing`() async throws {
    try await run { alice, bob, atAlice, atBob in
      try await alice.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
      try await alice.sendCallRequest(to: "bob")
      await atBob.wait("incoming alice")
      try await bob.answerCallRequest(accept: true)
      await atBob.wait("video of alice")
      try await alice.stopVideoRecording()
      await atBob.wait("no video of alice")
      // It comes back in the same call, and goes with its end.
      try await alice.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
      await atBob.wait("video of alice")
      await alice.endCall()
      await atBob.wait("no video of alice")
    }
  }

  @Test(.feature("S3.15")) func `one's own picture is announced when it is there, and told why when it is not`()
    async throws
  {
    try await run { alice, bob, atAlice, atBob in
      let reason = CaptureError.unavailable("no camera is plugged in")
      let error = await #expect(throws: CallManagerError.self) {
        try await alice.startVideoRecording(videoCapturer: HandCapturer(failure: reason))
      }
      #expect(error == .capture(reason.sentence))
      #expect(await alice.localVideoTrack == nil)
      // Nothing was announced: what comes first is the sound.
      try await alice.startRecording()
      #expect(await atAlice.next() == "local audio")
      try await alice.startVideoRecording(videoCapturer: HandCapturer())
      #expect(await atAlice.next() == "local video")
    }
  }

  @Test(.feature("S1.28", "S4.12", "S4.31"))
  func `five pictures a second are seen here too, before and beside any call`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice") { $0.frameRate = 5 }
      try await alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
      let track = try await alice.wait { if case .localVideoAdded(let track) = $0 { track } else { nil } }
      let preview = Pictures()
      track.add(preview)
      var times: [Timestamp] = []
      for _ in 0..<10 {
        let picture = try #require(await preview.next())
        #expect(picture.size == PixelSize(width: 320, height: 180))
        times.append(picture.captureTime)
      }
      // A busy machine leaves pictures out: that makes some of the intervals longer, and none of the others shorter.
      let intervals = zip(times, times.dropFirst()).map { $1 - $0 }.sorted()
      #expect((times[9] - times[0]) / 9 >= .milliseconds(180))
      #expect((.milliseconds(180) ... .milliseconds(260)).contains(intervals[4]), "\(intervals)")
      try await alice.calls.stopVideoRecording()
      await alice.calls.disconnect()
    }
  }

  @Test(.feature("S0.9", "S0.62", "S0.63", "S0.75", "S3.20", "S4.7"))
  func `far sound plays by itself, one's own does not, and nothing listens unasked`()
    async throws
  {
    try await CallBench.run { bench in
      let voice = HearingDevice(ToneSource(frequency: 440))
      let ear = HearingDevice(ToneSource(frequency: 440))
      var alice = try await bench.peer("alice", voice)
      var bob = try await bench.peer("bob", ear)
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      try await alice.waitForStart()
      try await bob.waitForStart()
      #expect(voice.timesStarted == 0 && ear.timesStarted == 0)
      try await alice.calls.startRecording()
      #expect(voice.isListening)
      for await loudest in ear.loudness where loudest > 0.05 { break }
      #expect(voice.timesPlayed == 0 && ear.timesStarted == 0)
      await alice.calls.disconnect()
      #expect(!voice.isListening)
      await bob.calls.disconnect()
    }
  }
}
