import RTCCaptureX11
import RTCMedia

/// Checks the Wayland desktop, or the X display and its extensions, for capturing.
struct DisplayChecks {
  var display: String?

  func run() -> [Check] {
    let desktop = display == nil ? Desktop.current : .x11
    if desktop.isWayland { return WaylandChecks(desktop: desktop).run() }
    do throws(CaptureError) {
      let probe = try X11Probe(display: display)
      return [screen(probe)] + extensions(probe)
    } catch {
      return [.fails("Display", error.sentence, advice: advice)]
    }
  }

  private func screen(_ probe: X11Probe) -> Check {
    if let refusal = probe.screenRefusal { return .fails("Display", refusal.sentence) }
    let found = "\(probe.display), \(probe.size), depth \(probe.depth)"
    return probe.isDirect
      ? .works("Display", found)
      : .lacks(
        "Display", "\(found): every picture is converted first", advice: "Run the X server with depth 24 to avoid that."
      )
  }

  private func extensions(_ probe: X11Probe) -> [Check] {
    probe.extensions.map { found in
      guard let version = found.version else {
        return .lacks(
          found.name, "missing; with it, \(found.purpose)",
          advice: "Start the X server with `+extension \(found.name)`, or use one that has it.")
      }
      if found.name == "MIT-SHM", !probe.sharesMemory {
        return .lacks(
          found.name, "\(version), but the display shares no memory with this process",
          advice: "Run rtcast on the machine, and in the container, where the X server runs.")
      }
      return .works(found.name, "\(version): \(found.purpose)")
    }
  }

  private var advice: String {
    if display != nil || Desktop.isSet("DISPLAY") {
      return "Is the X server running, and may you use it? Try `xdpyinfo`; `xhost +si:localuser:$USER` lets you in."
    }
    return
      "Set DISPLAY to the screen to cast, such as DISPLAY=:0, or try without one: `rtcast test`. A machine without a screen "
      + "can have a virtual one: \(Distribution.advice(for: .virtualDisplay)), then `Xvfb :7 & export DISPLAY=:7`, or "
      + "`rtcast run` with a command."
  }
}
