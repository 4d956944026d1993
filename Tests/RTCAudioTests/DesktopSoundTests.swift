import RTCAudio
import RTCMedia
import RTCPrimitives
import Testing

extension PulseTests {
  @Suite struct DesktopSoundTests {
    private func begin(_ server: PulseServer, _ target: PulseTarget = .desktop) -> (PulseAudioSource, SoundCollector) {
      let collector = SoundCollector()
      let source = PulseAudioSource(target, server: server.address) { [weak collector] in collector?.notice($0) }
      source.startCapture(consumer: collector)
      return (source, collector)
    }

    @Test func `what the desktop plays is heard at its pitch`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      try server.play(1_000)
      #expect(collector.hears(1_000))
      let heard = collector.now
      #expect(heard.starts == [.success(AudioFormat(sampleRate: 48_000, channels: 2))])
      #expect(heard.frames.allSatisfy { $0.format == .opus && $0.samples.count % 2 == 0 && !$0.samples.isEmpty })
      #expect(heard.newest.max().map { (0.45...0.55).contains($0) } == true)
    }

    /// With a buffer of two seconds that shrinks when the capture begins.
    @Test(arguments: [PulseServer.nullSink("first"), "module-null-sink sink_name=first"])
    func `capture times go on as the samples do`(sink: String) throws {
      let server = try PulseServer(sink)
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      #expect(collector.wait { $0.frames.count >= 100 })
      let frames = collector.now.frames
      let first = try #require(frames.first)
      var samples = 0
      for frame in frames {
        let expected = first.captureTime + TimeDelta(nanoseconds: Int64(samples) * 1_000_000 / 48)
        #expect(abs((frame.captureTime - expected).milliseconds) < 40)
        samples += frame.sampleCount
      }
    }

    @Test func `another default output is followed`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      try server.control("set-default-sink", "first")
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      for (frequency, sink) in [(1_000.0, "first"), (2_000, "second"), (1_000, "first")] {
        // The server moves what plays to the new default as well.
        try server.control("set-default-sink", sink)
        server.stopPlaying()
        try server.play(frequency, on: sink)
        #expect(collector.hears(frequency))
      }
      #expect(collector.now.notices == ["second", "first"].map { "Sound now comes from Monitor of Output-\($0)." })
      #expect(collector.now.starts.count == 1)
    }

    @Test func `when the output goes away, the one that takes its place is heard`() throws {
      let server = try PulseServer(PulseServer.nullSink("second"))
      let module = try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=first")
      try server.control("set-default-sink", "first")
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      try server.play(1_000, on: "first")
      #expect(collector.hears(1_000))
      try server.control("unload-module", String(module.filter(\.isNumber)))
      server.stopPlaying()
      try server.play(2_000, on: "second")
      #expect(collector.hears(2_000))
    }

    @Test func `without any output sound waits for one, and a microphone is never cast in its place`() throws {
      let server = try PulseServer(PulseServer.microphone("mic", frequency: 600))
      let module = try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=first")
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      try server.play(1_000)
      #expect(collector.hears(1_000))
      try server.control("unload-module", String(module.filter(\.isNumber)))
      #expect(collector.wait { $0.notices.count == 1 })
      #expect(collector.now.notices.first?.hasPrefix("No sound for now: The sound server has no output") == true)
      server.stopPlaying()
      try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=again")
      try server.play(2_000, on: "again")
      #expect(collector.hears(2_000))
      #expect(collector.now.notices.last == "Sound is back, from Monitor of Null Output.")
      let sound = collector.now.left
      for start in stride(from: 0, to: sound.count - 4_800, by: 4_800) {
        #expect(SoundCollector.share(of: 600, in: sound[start..<start + 4_800]) < 0.1)
      }
    }

    @Test func `a server that dies is waited for, and sound returns with it`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      try server.play(1_000)
      #expect(collector.hears(1_000))
      server.end()
      #expect(collector.wait { $0.notices == ["The sound server has stopped; sound continues when it is back."] })
      try server.start()
      try server.play(2_000)
      #expect(collector.hears(2_000))
      #expect(collector.now.notices.dropFirst() == ["Sound is back, from Monitor of Output-first."])
      #expect(collector.now.starts.count == 1 && collector.now.ends.isEmpty)
    }

    @Test func `a stream that the user moves stays where it was put`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      try server.control("set-default-sink", "first")
      let (source, collector) = begin(server)
      defer { source.stopCapture() }
      try server.play(1_000, on: "first")
      try server.play(2_000, on: "second")
      #expect(collector.hears(1_000))
      let streams = try server.control("list", "short", "source-outputs")
      let stream = try #require(streams.split(separator: "\t").first.map(String.init))
      try server.control("move-source-output", stream, "second.monitor")
      #expect(collector.hears(2_000))
      #expect(collector.now.notices == ["Sound now comes from Monitor of Output-second."])
    }
  }
}
