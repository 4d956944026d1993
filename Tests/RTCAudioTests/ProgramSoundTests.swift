import RTCAudio
import RTCMedia
import Testing

extension PulseTests {
  @Suite struct ProgramSoundTests {
    private func begin(_ server: PulseServer, _ program: String) -> (PulseAudioSource, SoundCollector) {
      let collector = SoundCollector()
      let source = PulseAudioSource(.program(program), server: server.address) { [weak collector] in
        collector?.notice($0)
      }
      source.startCapture(consumer: collector)
      return (source, collector)
    }

    @Test func `one program is heard and no other`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      try server.play(2_000, as: "noise")
      try server.play(1_000, as: "song")
      let (source, collector) = begin(server, "song")
      defer { source.stopCapture() }
      #expect(collector.hears(1_000))
      #expect(collector.now.starts == [.success(.opus)])
      // The player may have been slower than the capture.
      #expect(collector.now.notices.last == "Sound comes from song.")
    }

    @Test func `it is waited for, and heard again when it comes back`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let (source, collector) = begin(server, "song")
      defer { source.stopCapture() }
      let silence = "song plays no sound now; it is sent when there is some. `rtcast list audio` lists what plays."
      #expect(collector.wait { $0.notices == [silence] })
      #expect(collector.now.starts == [.success(.opus)])
      for frequency in [1_000.0, 2_000] {
        try server.play(frequency, as: "The Song Player")
        #expect(collector.hears(frequency))
        server.stopPlaying()
        let count = collector.now.notices.count { $0 == silence }
        #expect(collector.wait { $0.notices.count { $0 == silence } > count || $0.notices.last == silence })
      }
    }

    @Test func `two streams of a program are added`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      try server.play(1_000, as: "song")
      try server.play(3_000, as: "song")
      let (source, collector) = begin(server, "song")
      defer { source.stopCapture() }
      #expect(
        collector.wait { heard in
          heard.newest.count == SoundCollector.window
            && [1_000.0, 3_000].allSatisfy { (0.4...0.6).contains(SoundCollector.share(of: $0, in: heard.newest)) }
        })
    }

    @Test func `a stream that moves to another output is still heard`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      try server.play(1_000, on: "first", as: "song")
      let (source, collector) = begin(server, "song")
      defer { source.stopCapture() }
      #expect(collector.hears(1_000))
      let stream = try server.control("list", "short", "sink-inputs").prefix { $0.isNumber }
      try server.control("move-sink-input", String(stream), "second")
      try server.play(2_000, on: "first", as: "noise")
      collector.clear()
      #expect(collector.hears(1_000))
    }

    @Test func `it is heard again when the server comes back`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      try server.play(1_000, as: "song")
      let (source, collector) = begin(server, "song")
      defer { source.stopCapture() }
      #expect(collector.hears(1_000))
      server.end()
      #expect(collector.wait { $0.notices.last?.hasPrefix("The sound server has stopped") == true })
      try server.start()
      try server.play(2_000, as: "song")
      #expect(collector.hears(2_000))
      #expect(collector.now.starts.count == 1)
    }

    @Test func `a program and a microphone are sent together`() throws {
      // The microphone hears a room in which somebody speaks: unlike module-sine-source, at the pace of the clock.
      let server = try PulseServer(
        PulseServer.nullSink("first"), PulseServer.nullSink("room"),
        "module-remap-source source_name=headset master=room.monitor")
      try server.control("set-default-source", "headset")
      try server.play(600, on: "room", as: "voice")
      try server.play(2_000, on: "first", as: "noise")
      try server.play(3_000, on: "first", as: "song")
      let collector = SoundCollector()
      let source = MixedAudioSource(
        [.program("song"), .microphone].map { PulseAudioSource($0, server: server.address) })
      source.startCapture(consumer: collector)
      #expect(
        collector.wait { heard in
          guard heard.newest.count == SoundCollector.window else { return false }
          let shares = [600.0, 3_000, 2_000].map { SoundCollector.share(of: $0, in: heard.newest) }
          return shares[0] > 0.05 && shares[1] > 0.05 && shares[0] + shares[1] > 0.9 && shares[2] < 0.01
        })
      #expect(collector.now.starts == [.success(.opus)])
      source.stopCapture()
      let frames = collector.now.frames.count
      source.startCapture(consumer: collector)
      #expect(collector.wait { $0.frames.count > frames + 10 }, "it may be started again")
      source.stopCapture()
    }

    @Test func `a mix of which one source is missing does not start`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let collector = SoundCollector()
      let source = MixedAudioSource([.desktop, .microphone].map { PulseAudioSource($0, server: server.address) })
      source.startCapture(consumer: collector)
      #expect(collector.wait { !$0.starts.isEmpty })
      source.stopCapture()
      guard case .failure(.noSuchSource(let sentence))? = collector.now.starts.first else {
        Issue.record("it has started")
        return
      }
      #expect(sentence.contains("no microphone"))
      #expect(collector.now.starts.count == 1 && collector.now.frames.isEmpty)
    }
  }
}
