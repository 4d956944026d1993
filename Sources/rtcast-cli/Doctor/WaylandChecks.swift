import RTCCapturePortal
import RTCCaptureWayland
import RTCMedia

/// Checks how a Wayland desktop can be captured.
struct WaylandChecks {
  var desktop: Desktop

  func run() -> [Check] {
    guard let wayland = desktop.wayland else { return [] }
    switch wayland {
    case .failure(let error): return [.fails("Wayland", error.sentence)]
    case .success(let found): return [compositor(found)] + sharing
    }
  }

  private func compositor(_ found: WaylandScreens) -> Check {
    let text = "\(found.compositor ?? "compositor") (\(found.socket)), monitors: \(found.monitors.count), \(found.size)"
    guard !found.monitors.isEmpty else {
      return .fails("Wayland", text, advice: "Connect a monitor, or switch one on.")
    }
    if let version = found.imageCopy, found.refusal == nil {
      return .works("Wayland", "\(text), captured by ext-image-copy-capture \(version)")
    }
    if let version = found.screencopy, found.refusal == nil {
      guard version >= 2 else {
        return .lacks(
          "Wayland",
          "\(text); wlr-screencopy \(version) does not report changes, so a still screen costs as much as a moving one",
          advice: "Update the compositor.")
      }
      return .works("Wayland", "\(text), captured by wlr-screencopy \(version)")
    }
    if let refusal = desktop.refusal { return .fails("Wayland", refusal.sentence, advice: advice) }
    guard case .portal(let backend) = desktop.way else { return .works("Wayland", text) }
    return .works(
      "Wayland", "\(text), captured by \(backend == .mutter ? "Mutter without a dialog" : "the desktop portal")")
  }

  private var advice: String {
    "If this desktop has a portal, install xdg-desktop-portal, its backend for the desktop (-gnome, -kde, -wlr …), pipewire and "
      + "wireplumber, and log in again."
  }

  /// The parts between the desktop and this program; none where they are not used.
  private var sharing: [Check] {
    guard let sharing = desktop.sharing else { return [] }
    switch sharing {
    case .failure(let error):
      return [.lacks("Portal", error.sentence, advice: "Start rtcast inside the desktop session.")]
    case .success(let found):
      let portal: Check =
        found.portalVersion.map { .works("Portal", "ScreenCast version \($0): its dialog asks what to share") }
        ?? .lacks(
          "Portal", "there is none that shares screens\(found.hasMutter ? "; GNOME’s Mutter does without it" : "")",
          advice: advice)
      let pipeWire: Check =
        found.pipeWireVersion.map { .works("PipeWire", "\($0): passes the pictures of the screen on") }
        ?? .lacks(
          "PipeWire", "libpipewire-0.3 cannot be loaded", advice: "Install libpipewire-0.3-0, pipewire and wireplumber."
        )
      return [portal, pipeWire]
    }
  }
}
