import RTCAudio
import RTCMedia

/// Checks the sound server and its devices; pictures do not need them.
enum SoundChecks {
  static func run() -> [Check] {
    let found: PulseDevices
    do throws(CaptureError) {
      found = try PulseDevices.list()
    } catch {
      let server = Distribution.advice(for: .soundServer)
      return [
        .lacks(
          "Sound", "no sound server answers", advice: "\(error.sentence) If there is none, install one: \(server).")
      ]
    }
    return [
      device(
        found, .desktop, for: "--audio desktop", missing: "no output",
        advice: "`pactl load-module module-null-sink` makes one."),
      device(
        found, .microphone, for: "--audio mic", missing: "no microphone",
        advice: "Connect one, or cast without --audio mic."),
    ]
  }

  private static func device(
    _ found: PulseDevices, _ kind: PulseDevice.Kind, for option: String, missing: String, advice: String
  ) -> Check {
    let name = kind == .desktop ? "Sound" : "Microphone"
    let devices = found.devices.filter { $0.kind == kind }
    if let device = devices.first(where: \.isDefault) ?? (kind == .microphone ? devices.first : nil) {
      return .works(name, "\(option) sends \(device.description.printable) (\(found.server.printable))")
    }
    return .lacks(name, "\(missing) at \(found.server.printable)", advice: advice)
  }
}
