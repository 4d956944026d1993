import FeatureKit
import RTCAudio
import RTCMedia
import Testing

@Suite struct DeviceChoiceTests {
  private var desk: PulseInventory {
    var inventory = PulseInventory()
    inventory.sinks = [
      PulseInventory.Sink(name: "speakers", monitor: "speakers.monitor"),
      PulseInventory.Sink(name: "headset", monitor: "headset.monitor"),
    ]
    inventory.sources = [
      PulseInventory.Source(name: "speakers.monitor", description: "Monitor of Speakers", isMonitor: true),
      PulseInventory.Source(name: "headset.monitor", description: "Monitor of Jabra Evolve", isMonitor: true),
      PulseInventory.Source(name: "headset.mic", description: "Jabra Evolve", isMonitor: false),
      PulseInventory.Source(name: "camera.mic", description: "Camera", isMonitor: false),
    ]
    inventory.defaultSink = "speakers"
    inventory.defaultSource = "camera.mic"
    return inventory
  }

  @Test(
    .feature("S1.25", "S3.37"),
    arguments: [
      (.desktop, "speakers.monitor"), (.microphone, "camera.mic"), (.device("headset"), "headset.monitor"),
      (.device("headset.mic"), "headset.mic"), (.device("jabra"), "headset.mic"), (.device("Camera"), "camera.mic"),
      (.device("monitor of jabra"), "headset.monitor"),
    ] as [(PulseTarget, String)]) func `each target means one device`(target: PulseTarget, name: String) throws
  {
    #expect(try desk.device(for: target).name == name)
  }

  @Test func `a description that fits several devices is refused with their names`() {
    let error = #expect(throws: CaptureError.self) { try desk.device(for: .device("monitor")) }
    #expect(error?.sentence.contains("speakers.monitor (Monitor of Speakers), headset.monitor") == true)
  }

  @Test func `a monitor that was made the default input on purpose is taken`() throws {
    var inventory = desk
    inventory.defaultSource = "speakers.monitor"
    #expect(try inventory.device(for: .microphone).name == "speakers.monitor")
    inventory.sources.removeAll { !$0.isMonitor }
    #expect(throws: CaptureError.self) { try inventory.device(for: .microphone) }
  }

  @Test(arguments: [.desktop, .microphone, .device("x"), .device("")] as [PulseTarget])
  func `a server that has nothing is refused with a sentence`(target: PulseTarget) {
    let error = #expect(throws: CaptureError.self) { try PulseInventory().device(for: target) }
    #expect(error?.sentence.hasSuffix(".") == true)
  }
}
