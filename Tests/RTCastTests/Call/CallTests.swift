import FeatureKit
import RTCCapture
import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCSignaling
import RTCast
import Testing

/// Two peers in one process, over a real hub and real sockets on loopback.
@Suite(.timeLimit(.minutes(1)), .serialized) struct CallTests {
  private func tone(_ frequency: Double) -> SilentAudioDevice {
    SilentAudioDevice(microphone: ToneSource(frequency: frequency))
  }

  @Test(.feature("S0.1", "S0.20", "S1.21", "S1.31", "S3.19"))
  func `a call with sound and pictures both ways, from the ring to the end`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice", tone(440))
      var bob = try await bench.peer("bob", tone(1_000))
      for end in [alice, bob] {
        try await end.calls.startRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
      }
      try await alice.calls.sendCallRequest(to: "bob")
      #expect(try await bob.waitToRing() == "alice")
      try await bob.calls.answerCallRequest(accept: true)
      let (atBob, heardByBob) = try await media(of: &bob)
      let (atAlice, heardByAlice) = try await media(of: &alice)
      for pictures in [atBob, atAlice] {
        let frame = try #require(await pictures.next())
        #expect(frame.size == PixelSize(width: 320, height: 180))
      }
      #expect(await heardByBob.hears(440))
      #expect(await heardByAlice.hears(1_000))
      await alice.calls.endCall()
      #expect(try await alice.waitForEnd() == .hungUp)
      #expect(try await bob.waitForEnd() == .hungUpRemotely)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.8", "S0.10", "S0.11", "S0.13"))
  func `a peer has the name it registered under, calls, is answered, hangs up, and can be called again`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      #expect(await alice.calls.peerID == "alice")
      try await alice.calls.sendCallRequest(to: "bob")
      #expect(try await bob.waitToRing() == "alice")
      try await bob.calls.answerCallRequest(accept: true)
      try await alice.waitForStart()
      try await bob.waitForStart()
      await alice.calls.endCall()
      #expect(try await alice.waitForEnd() == .hungUp)
      #expect(try await bob.waitForEnd() == .hungUpRemotely)
      #expect(await alice.calls.statistics().isEmpty)
      try await bob.calls.sendCallRequest(to: "alice")
      #expect(try await alice.waitToRing() == "bob")
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  /// Waits for both tracks and the start of the call, whichever comes first.
  private func media(of end: inout BenchPeer) async throws -> (Pictures, Sounds) {
    let (pictures, sounds) = (Pictures(), Sounds())
    var missing: Set<String> = ["video", "audio", "start"]
    try await end.wait { event in
      switch event {
      case .remoteVideoAdded(let track):
        track.add(pictures)
        missing.remove("video")
      case .remoteAudioAdded(let track):
        track.add(sounds)
        missing.remove("audio")
      case .callChanged(.connected): missing.remove("start")
      default: break
      }
      return missing.isEmpty ? () : nil
    }
    return (pictures, sounds)
  }

  @Test(.feature("S0.18", "S0.19", "S0.64"))
  func `a call begins with sound alone, and pictures come in the middle of it`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice", tone(440))
      var bob = try await bench.peer("bob", tone(440))
      try await alice.calls.startRecording()
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let sounds = Sounds()
      try await bob.wait { event in
        if case .remoteVideoAdded = event { Issue.record("There is a picture that nobody sends.") }
        if case .remoteAudioAdded(let track) = event { track.add(sounds) }
        return if case .callChanged(.connected) = event { () } else { nil }
      }
      #expect(await sounds.hears(440))
      try await alice.wait { event in
        if case .remoteVideoAdded = event { Issue.record("There is a picture that nobody sends.") }
        return if case .callChanged(.connected) = event { () } else { nil }
      }
      for end in [alice, bob] {
        #expect(try #require(await end.calls.statistics().first).connection.video.framesSent == 0)
      }
      try await bob.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .gradient))
      let pictures = Pictures()
      try await alice.waitForVideo().add(pictures)
      #expect(await pictures.next() != nil)
      #expect(try #require(await alice.calls.statistics().first?.firstPictureDelay) > .zero)
      #expect(await bob.calls.statistics().first?.firstPictureDelay == nil)
      try await bob.calls.stopVideoRecording()
      try await alice.wait { if case .remoteVideoRemoved = $0 { () } else { nil } }
      await alice.calls.disconnect()
      #expect(try await bob.waitForEnd() == .hungUpRemotely)
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.12")) func `a call that is rejected ends on both sides, with the reason on the caller's`()
    async throws
  {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: false)
      #expect(try await alice.waitForEnd() == .rejected)
      #expect(try await bob.waitForEnd() == .hungUp)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test func `nobody of that name, and a peer in another call, are told apart`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      var carol = try await bench.peer("carol")
      try await alice.calls.sendCallRequest(to: "nobody")
      #expect(try await alice.waitForEnd() == .unknownPeer)
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await carol.calls.sendCallRequest(to: "bob")
      #expect(try await carol.waitForEnd() == .busy)
      for end in [alice, bob, carol] { await end.calls.disconnect() }
    }
  }

  @Test func `both call at the same moment and are connected by one call`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      let (ours, theirs) = (alice.calls, bob.calls)
      async let first: Void = ours.sendCallRequest(to: "bob")
      async let second: Void = theirs.sendCallRequest(to: "alice")
      _ = try? await (first, second)
      try await alice.waitForStart()
      try await bob.waitForStart()
      #expect(await alice.calls.state.party?.call == bob.calls.state.party?.call)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.21", "S0.22", "S0.23", "S0.67"))
  func `a data channel of the application's choice is opened in a call that has started`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      await #expect(throws: CallManagerError.self) { try await alice.calls.createDataChannel(label: "chat") }
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      try await alice.waitForStart()
      await alice.calls.startConfiguration()
      let lossy = DataChannelParameters(isOrdered: false, reliability: .maximumRetransmissions(0))
      let ours = try await alice.calls.createDataChannel(label: "chat", config: lossy)
      await alice.calls.commitConfiguration()
      let theirs = try await bob.wait { if case .dataChannel(let channel, "alice") = $0 { channel } else { nil } }
      #expect(theirs.label == "chat" && theirs.maxRetransmits == 0 && !theirs.isOrdered)
      try theirs.send("hello")
      for await message in ours.messages {
        #expect(message == .text("hello"))
        break
      }
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test func `channels of the configuration come with the call, on both sides, and figures tell of it`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice", tone(440)) { $0.dataChannels = ["chat"] }
      var bob = try await bench.peer("bob")
      try await alice.calls.startRecording()
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let ours = try await alice.wait { if case .dataChannel(let channel, "bob") = $0 { channel } else { nil } }
      let sounds = Sounds()
      var isHeard = false
      var channel: DataChannel?
      let theirs = try await bob.wait { event in
        switch event {
        case .remoteAudioAdded(let track):
          track.add(sounds)
          isHeard = true
        case .dataChannel(let new, "alice"): channel = new
        default: break
        }
        return isHeard ? channel : nil
      }
      try theirs.send("hello")
      let first = await ours.messages.first { _ in true }
      #expect(first == .text("hello"))
      #expect(await sounds.hears(440))
      let figures = await alice.calls.statistics()
      #expect(figures.map(\.peer) == ["bob"])
      #expect(figures.first?.room == nil)
      #expect(figures.first?.connection.streams.contains { $0.kind == .audio && $0.audio != nil } == true)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.68")) func `a muted microphone is told to the far side and is not heard there`() async throws {
    try await CallBench.run { bench in
      let alice = try await bench.peer("alice", tone(440))
      var bob = try await bench.peer("bob")
      try await alice.calls.startRecording()
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let track = try await bob.waitForAudio()
      let before = Sounds()
      track.add(before)
      #expect(await before.hears(440))
      let own = try #require(await alice.calls.localAudioTrack)
      own.isEnabled = false
      try await bob.wait { if case .remoteMuted("alice", kind: "audio", true) = $0 { () } else { nil } }
      let after = Sounds()
      track.add(after)
      #expect(await after.fallsSilent())
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.68")) func `a picture is switched off here and there`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      try await alice.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
      let own = try await alice.wait { if case .localVideoAdded(let track) = $0 { track } else { nil } }
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let track = try await bob.waitForVideo()
      let pictures = Pictures()
      track.add(pictures)
      _ = try #require(await pictures.next())
      #expect(own.isEnabled && track.isEnabled)
      // Hidden by who watches: pictures come on, and none is shown. Each that alice captures says when to look.
      let captured = Pictures()
      own.add(captured)
      track.isEnabled = false
      let received = try #require(await track.reception()).framesReceived
      while try #require(await track.reception()).framesReceived < received + 10 { _ = await captured.next() }
      let hidden = pictures.count
      while try #require(await track.reception()).framesReceived < received + 20 { _ = await captured.next() }
      #expect(pictures.count == hidden)
      own.remove(captured)
      track.isEnabled = true
      _ = try #require(await pictures.next())
      // Switched off by who sends: that is told, and nothing comes.
      own.isEnabled = false
      try await bob.wait { if case .remoteMuted("alice", kind: "video", true) = $0 { () } else { nil } }
      own.isEnabled = true
      try await bob.wait { if case .remoteMuted("alice", kind: "video", false) = $0 { () } else { nil } }
      _ = try #require(await pictures.next())
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.68")) func `a far sound is switched off here alone`() async throws {
    try await CallBench.run { bench in
      let alice = try await bench.peer("alice", tone(440))
      var bob = try await bench.peer("bob")
      try await alice.calls.startRecording()
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let track = try await bob.waitForAudio()
      let before = Sounds()
      track.add(before)
      #expect(await before.hears(440))
      track.isEnabled = false
      let received = try #require(await track.reception()).packetsReceived
      #expect(await before.fallsSilent())
      track.isEnabled = true
      let after = Sounds()
      track.add(after)
      #expect(await after.hears(440))
      #expect(try #require(await track.reception()).packetsReceived > received + 20)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S3.14", "S3.39", "S3.45", "S3.1", "S3.8", "S3.17"))
  func `three in a room are connected each with each; one who leaves takes nobody along`()
    async throws
  {
    try await CallBench.run { bench in
      var ends: [BenchPeer] = []
      var rooms: [Room] = []
      for name in ["alice", "bob", "carol"] {
        let end = try await bench.peer(name)
        rooms.append(try await end.calls.join(room: "r"))
        ends.append(end)
      }
      for index in ends.indices {
        var connected: Set<PeerID> = []
        try await ends[index].wait { event in
          if case .roomCallChanged("r", .connected(let party, _)) = event { connected.insert(party.peer) }
          return connected.count == 2 ? () : nil
        }
      }
      await rooms[2].exitRoom()
      for index in 0..<2 {
        try await ends[index].wait { if case .peerLeft("r", "carol") = $0 { () } else { nil } }
      }
      #expect(await rooms[0].peers == ["bob"])
      // The connection is gone with its peer, and so is each of hers.
      #expect(await ends[0].calls.statistics().map(\.peer) == ["bob"])
      #expect(await ends[1].calls.statistics().map(\.peer) == ["alice"])
      #expect(await ends[2].calls.statistics().isEmpty)
      for end in ends { await end.calls.disconnect() }
    }
  }

  @Test(.feature("S0.33", "S0.34")) func `the bounds of the configuration bind what is sent`() async throws {
    try await CallBench.run { bench in
      func slow(_ configuration: inout CallConfiguration) {
        (configuration.video.minimum, configuration.video.start) = (.kilobitsPerSecond(150), .kilobitsPerSecond(170))
        configuration.video.maximum = .kilobitsPerSecond(180)
        (configuration.audio.minimum, configuration.audio.start) = (.kilobitsPerSecond(7), .kilobitsPerSecond(9))
        configuration.audio.maximum = .kilobitsPerSecond(10)
      }
      var alice = try await bench.peer("alice", tone(440), slow)
      var bob = try await bench.peer("bob")
      try await alice.calls.startRecording(videoCapturer: SyntheticCapturer(pattern: .noise))
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let sounds = Sounds()
      try await bob.waitForAudio().add(sounds)
      try await alice.waitForStart()
      #expect(await sounds.hears(440))
      let connection = try #require(await alice.calls.statistics().first).connection
      #expect((150_000...180_000).contains(connection.targetBitrate.bitsPerSecond))
      let sound = connection.audio
      #expect(sound.packetsSent > 20 && sound.payloadBytesSent * 8 * 50 / max(1, sound.packetsSent) < 12_000)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.32")) func `nobody answers, and the caller gives up in time`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice") { $0.ringTimeout = .milliseconds(200) }
      var bob = try await bench.peer("bob")
      try await alice.calls.sendCallRequest(to: "bob")
      #expect(try await alice.waitForEnd() == .noAnswer)
      #expect(try await bob.waitForEnd() == .hungUpRemotely)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test(.feature("S0.19")) func `what a picture shows is told with it, and again when another takes its place`()
    async throws
  {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob")
      try await bob.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .bars))
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      #expect(try await alice.waitForVideo().content == .screen)
      try await bob.calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .noise))
      let changed = try await alice.wait { if case .remoteVideoChanged(let track) = $0 { track } else { nil } }
      #expect(changed.content == .camera)
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test func `who follows is told who is at the hub, who comes and who goes`() async throws {
    try await CallBench.run { bench in
      let bob = try await bench.peer("bob")
      var alice = try await bench.peer("alice")
      try await alice.calls.followPeers()
      #expect(try await alice.wait { if case .peersPresent(let peers) = $0 { peers } else { nil } } == ["bob"])
      let carol = try await bench.peer("carol")
      #expect(try await alice.wait { if case .peerArrived(let peer) = $0 { peer } else { nil } } == "carol")
      await carol.calls.disconnect()
      #expect(try await alice.wait { if case .peerGone(let peer) = $0 { peer } else { nil } } == "carol")
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }

  @Test func `a hub that goes away in the middle of a call takes nothing of it along`() async throws {
    try await CallBench.run { bench in
      var alice = try await bench.peer("alice")
      var bob = try await bench.peer("bob", tone(440))
      try await bob.calls.startRecording()
      try await alice.calls.sendCallRequest(to: "bob")
      _ = try await bob.waitToRing()
      try await bob.calls.answerCallRequest(accept: true)
      let track = try await alice.waitForAudio()
      await bench.server.shutdown()
      try await alice.wait { if case .signalingInterrupted = $0 { () } else { nil } }
      let sounds = Sounds()
      track.add(sounds)
      #expect(await sounds.hears(440))
      guard case .connected = await alice.calls.state else {
        Issue.record("The call ended with the hub.")
        return
      }
      await alice.calls.disconnect()
      await bob.calls.disconnect()
    }
  }
}
