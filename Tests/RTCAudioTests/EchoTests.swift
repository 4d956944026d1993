import FeatureKit
import RTCAudio
import RTCMedia
import Testing

extension PulseTests {
  /// The sound server's echo cancellation is preferred, and reported.
  @Suite struct EchoTests {
    private func call(_ server: PulseServer) -> (device: PulseAudioDevice, tone: PlayedTone, sent: SoundCollector) {
      let (tone, sent) = (PlayedTone(1_000), SoundCollector())
      let device = PulseAudioDevice(server: server.address) { [weak tone] in tone?.notice($0) }
      device.startPlayout(source: tone)
      device.microphone.startCapture(consumer: sent)
      return (device, tone, sent)
    }

    private func end(_ device: PulseAudioDevice) {
      device.microphone.stopCapture()
      device.stopPlayout()
    }

    private func isCancelling(_ device: PulseAudioDevice, _ tone: PlayedTone) -> Bool {
      tone.wait { _ in
        if case .soundServer = device.echoCancellation { return true }
        return false
      }
    }

    @Test func `without an echo canceller it is said what to do`() throws {
      let server = try PulseServer(PulseServer.nullSink("first"), PulseServer.microphone("mic", frequency: 600))
      let (device, tone, _) = call(server)
      defer { end(device) }
      #expect(tone.wait { $0.notices.count == 1 })
      guard case .none(let sentence) = device.echoCancellation else {
        Issue.record("\(device.echoCancellation)"); return
      }
      #expect(sentence.contains("headphones") && sentence.contains("module-echo-cancel"))
      #expect(tone.now.notices == [sentence])
    }

    @Test(.feature("S4.3")) func `the echo canceller of the default devices is taken`() throws {
      let server = try PulseServer(
        PulseServer.nullSink("first"), PulseServer.microphone("mic", frequency: 600),
        "module-echo-cancel source_master=mic sink_master=first source_name=clean sink_name=reference")
      try server.control("set-default-source", "mic")
      try server.control("set-default-sink", "first")
      let (device, tone, sent) = call(server)
      defer { end(device) }
      #expect(isCancelling(device, tone))
      #expect(sent.wait { !$0.frames.isEmpty })
      #expect(tone.now.notices.isEmpty)
    }

    @Test(.feature("S3.50", "S4.11")) func `a server that has filters for the asking puts its echo canceller in`()
      throws
    {
      let server = try PulseServer(
        PulseServer.nullSink("first"), PulseServer.microphone("mic", frequency: 600),
        "module-filter-heuristics", "module-filter-apply")
      try server.control("set-default-source", "mic")
      let (device, tone, sent) = call(server)
      defer { end(device) }
      #expect(isCancelling(device, tone))
      #expect(sent.wait { !$0.frames.isEmpty })
      #expect(tone.isAskedOn())
      #expect(!tone.now.notices.contains { $0.contains("cancels no echo") })
    }
  }
}
