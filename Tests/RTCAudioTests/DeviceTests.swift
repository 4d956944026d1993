import RTCAudio
import RTCMedia
import Testing

extension PulseTests {
  @Suite struct DeviceTests {
    private func begin(_ server: PulseServer, _ target: PulseTarget) -> (PulseAudioSource, SoundCollector) {
      let collector = SoundCollector()
      let source = PulseAudioSource(target, server: server.address) { [weak collector] in collector?.notice($0) }
      source.startCapture(consumer: collector)
      return (source, collector)
    }

    private func refusal(_ server: PulseServer, _ target: PulseTarget) -> CaptureError? {
      let (source, collector) = begin(server, target)
      defer { source.stopCapture() }
      _ = collector.wait { !$0.starts.isEmpty }
      if case .failure(let error) = collector.now.starts.first { return error }
      return nil
    }

    @Test func `the microphone is heard`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.microphone("mic", frequency: 600))
      try server.control("set-default-source", "mic")
      let (source, collector) = begin(server, .microphone)
      defer { source.stopCapture() }
      #expect(collector.hears(600))
    }

    @Test func `without a microphone the desktop is not taken for one`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      guard case .noSuchSource(let sentence) = refusal(server, .microphone) else {
        Issue.record("not refused"); return
      }
      #expect(sentence.contains("no microphone") && sentence.contains("--audio desktop"))
    }

    @Test(arguments: ["second", "second.monitor", "Monitor of Output-second", "output-SECOND"])
    func `a device is found by its name and its description`(name: String) throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.nullSink("second"))
      let (source, collector) = begin(server, .device(name))
      defer { source.stopCapture() }
      try server.play(1_000, on: "first")
      try server.play(2_000, on: "second")
      #expect(collector.hears(2_000))
    }

    @Test func `a device that is not there is refused with what is`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"))
      guard case .noSuchSource(let sentence) = refusal(server, .device("headset")) else {
        Issue.record("not refused"); return
      }
      #expect(sentence.contains("'headset'") && sentence.contains("first.monitor (Monitor of Output-first)"))
    }

    @Test func `a device that is unplugged is waited for`() throws {
      let server = try PulseServer(PulseServer.nullSink("other"), PulseServer.microphone("mic", frequency: 600))
      let module = try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=named")
      let (source, collector) = begin(server, .device("named"))
      defer { source.stopCapture() }
      try server.play(1_000, on: "named")
      #expect(collector.hears(1_000))
      try server.control("unload-module", String(module.filter(\.isNumber)))
      #expect(collector.wait { $0.notices.count == 1 })
      collector.clear()
      try server.control("load-module", "module-null-sink", "norewinds=1", "sink_name=named")
      try server.play(2_000, on: "named")
      #expect(collector.hears(2_000))
      #expect(collector.now.notices.last?.hasPrefix("Sound is back") == true)
    }

    @Test func `devices are listed with their defaults`() throws {
      let server = try PulseServer(
        PulseServer.nullSink("first"), PulseServer.nullSink("second"), PulseServer.microphone("mic", frequency: 600))
      try server.control("set-default-sink", "second")
      try server.control("set-default-source", "mic")
      let list = try PulseDevices.list(server: server.address)
      #expect(list.server.hasPrefix("pulseaudio "))
      #expect(
        list.devices.map(\.name).sorted() == ["first.monitor", "mic", "second.monitor"])
      #expect(Set(list.devices.filter(\.isDefault).map(\.name)) == ["mic", "second.monitor"])
      #expect(list.devices.first { $0.name == "mic" }?.kind == .microphone)
      #expect(list.devices.first { $0.name == "first.monitor" }?.kind == .desktop)
      #expect(list.devices.first { $0.name == "first.monitor" }?.description == "Monitor of Output-first")
    }
  }
}
