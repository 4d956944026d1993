import FeatureKit
import RTCAudio
import RTCMedia
import RTCPrimitives
import Testing

extension PulseTests {
  @Suite struct PlayoutTests {
    /// Plays a tone on `server`, and listens to what its default output plays.
    private final class Loudspeaker {
      let tone = PlayedTone(1_000)
      let collector = SoundCollector()
      let device: PulseAudioDevice
      let ear: PulseAudioSource

      init(_ server: PulseServer, output: String? = nil, ear target: PulseTarget = .desktop) {
        let tone = tone
        device = PulseAudioDevice(output: output, server: server.address) { [weak tone] in tone?.notice($0) }
        ear = PulseAudioSource(target, server: server.address)
        device.startPlayout(source: tone)
        ear.startCapture(consumer: collector)
      }

      func listen(_ frequency: Double = 1_000) -> Bool {
        collector.clear()
        return collector.hears(frequency)
      }

      deinit {
        device.stopPlayout()
        ear.stopCapture()
      }
    }

    @Test(.feature("S4.1")) func `a call's sound goes both ways at its pitch`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.microphone("mic", frequency: 600))
      try server.control("set-default-source", "mic")
      let loudspeaker = Loudspeaker(server)
      let sent = SoundCollector()
      loudspeaker.device.microphone.startCapture(consumer: sent)
      defer { loudspeaker.device.microphone.stopCapture() }
      #expect(loudspeaker.listen())
      #expect(sent.hears(600))
      #expect(loudspeaker.collector.now.newest.max().map { (0.45...0.55).contains($0) } == true)
    }

    @Test func `the device says how long sound takes to be heard`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let loudspeaker = Loudspeaker(server)
      #expect(loudspeaker.listen())
      #expect(loudspeaker.tone.now.delays.allSatisfy { (.zero ... .seconds(1)).contains($0) })
      #expect(loudspeaker.tone.now.delays.last.map { $0 > .zero } == true)
    }

    @Test func `a second start replaces the source, and after a stop nobody is asked`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let loudspeaker = Loudspeaker(server)
      #expect(loudspeaker.listen())
      let other = PlayedTone(2_000)
      loudspeaker.device.startPlayout(source: other)
      #expect(loudspeaker.listen(2_000))
      loudspeaker.device.stopPlayout()
      let calls = other.now.calls
      loudspeaker.device.stopPlayout()
      #expect(other.now.calls == calls)
      loudspeaker.device.startPlayout(source: loudspeaker.tone)
      #expect(loudspeaker.listen())
      #expect(other.now.calls == calls)
    }

    @Test func `a source may end its own playout`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let device = PulseAudioDevice(server: server.address)
      let tone = PlayedTone(1_000) { device.stopPlayout() }
      device.startPlayout(source: tone)
      #expect(tone.wait { $0.calls == 1 })
      let other = PlayedTone(1_000)
      device.startPlayout(source: other)
      #expect(other.isAskedOn())
      #expect(tone.now.calls == 1)
      device.stopPlayout()
    }

    @Test(.feature("S4.8")) func `another default output is followed`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      try server.control("set-default-sink", "first")
      let loudspeaker = Loudspeaker(server, ear: .device("second"))
      #expect(loudspeaker.tone.isAskedOn())
      try server.control("set-default-sink", "second")
      #expect(loudspeaker.listen())
      #expect(loudspeaker.tone.wait { $0.notices.contains("Received sound is now played on Output-second.") })
    }

    @Test func `an output that goes away while it plays makes room for the next, and returns`() throws {
      let server = try PulseServer()
      let first = try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=first")
      let loudspeaker = Loudspeaker(server)
      #expect(loudspeaker.listen())
      try server.control("unload-module", String(first.filter(\.isNumber)))
      #expect(loudspeaker.tone.wait { $0.notices.last?.hasPrefix("Received sound is not played for now: ") == true })
      // Unheard, it goes on.
      #expect(loudspeaker.tone.isAskedOn())
      try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=second")
      #expect(loudspeaker.listen())
      #expect(loudspeaker.tone.wait { $0.notices.last?.hasPrefix("Received sound is played again, on ") == true })
    }

    @Test(arguments: ["second", "Output-second", "PUT-SEC"]) func `an output is found by its name and its description`(
      name: String
    ) throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      try server.control("set-default-sink", "first")
      let loudspeaker = Loudspeaker(server, output: name, ear: .device("second"))
      #expect(loudspeaker.listen())
    }

    @Test func `an output that is not there is waited for, and what is there is said`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let loudspeaker = Loudspeaker(server, output: "headset")
      #expect(loudspeaker.tone.wait { $0.notices.count == 1 })
      let sentence = try #require(loudspeaker.tone.now.notices.first)
      #expect(sentence.contains("'headset'") && sentence.contains("first (Output-first)"))
      try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=headset")
      try server.control("set-default-sink", "headset")
      #expect(loudspeaker.listen())
    }

    @Test func `a server that dies is waited for, and is played to again`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let loudspeaker = Loudspeaker(server)
      #expect(loudspeaker.listen())
      server.end()
      let sentence = "The sound server has stopped; received sound is played again when it is back."
      #expect(loudspeaker.tone.wait { $0.notices.last == sentence })
      #expect(loudspeaker.tone.isAskedOn())
      try server.start()
      #expect(loudspeaker.listen())
      #expect(loudspeaker.tone.wait { $0.notices.last == "Received sound is played again, on Output-first." })
    }

    @Test func `an output that is put to sleep lets the sound pass unheard`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      let loudspeaker = Loudspeaker(server)
      #expect(loudspeaker.listen())
      try server.control("suspend-sink", "first", "1")
      for _ in 0..<10 { #expect(loudspeaker.tone.isAskedOn()) }
      try server.control("suspend-sink", "first", "0")
      #expect(loudspeaker.listen())
    }

    @Test func `without a server the sound passes unheard, and what to do is said once`() throws {
      let tone = PlayedTone(1_000)
      let device = PulseAudioDevice(server: "unix:/nonexistent/pulse/native") { [weak tone] in tone?.notice($0) }
      device.startPlayout(source: tone)
      #expect(tone.wait { $0.notices.count == 1 })
      #expect(tone.isAskedOn())
      let sent = SoundCollector()
      device.microphone.startCapture(consumer: sent)
      #expect(sent.wait { !$0.starts.isEmpty })
      device.microphone.stopCapture()
      device.stopPlayout()
      guard case .failure(.unavailable) = sent.now.starts.first else {
        Issue.record("the microphone was not refused"); return
      }
      let sentence = try #require(tone.now.notices.first)
      for word in ["Received sound is not played: ", "unix:/nonexistent/pulse/native", "`pactl info`", "PULSE_SERVER"] {
        #expect(sentence.contains(word))
      }
      #expect(tone.now.notices.count == 1)
      #expect(device.echoCancellation == .unknown)
    }
  }
}
