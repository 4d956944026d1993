import RTCAudio
import RTCCaptureCamera
import RTCCaptureX11
import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// Looks for screens, cameras and sound at the same time, each on a thread of its own: a server that hangs delays nobody.
final class OverviewSearch: Sendable {
  private let found = Mutex(Overview())
  private let waiter = Waiter()

  /// Returns when everything has answered, or after `patience`. A thread that still waits then ends with the process.
  static func find(within patience: TimeDelta) -> Overview {
    let search = OverviewSearch()
    let deadline = MonotonicClock.now() + patience
    search.look("screens") {
      let screens = Result { () throws(CaptureError) in try X11Screens.list() }
      return { $0.screens = screens }
    }
    search.look("wayland") {
      let desktop = Desktop.current
      let isCaptured = desktop.isWayland && desktop.refusal == nil
      return { $0.capturesWayland = isCaptured }
    }
    search.look("cameras") {
      let cameras = Result { () throws(CaptureError) in try FoundCamera.all() }
      return { $0.cameras = cameras }
    }
    search.look("sound") {
      let sound = Result { () throws(CaptureError) in try PulseDevices.list() }
      return { $0.sound = sound }
    }
    while !search.isComplete, MonotonicClock.now() < deadline { search.waiter.wait(until: deadline) }
    return search.found.withLock { $0 }
  }

  private var isComplete: Bool {
    found.withLock { $0.screens != nil && $0.capturesWayland != nil && $0.cameras != nil && $0.sound != nil }
  }

  /// - Parameter search: returns the change that notes what was found.
  private func look(_ name: String, _ search: @escaping @Sendable () -> (inout Overview) -> Void) {
    _ = try? NamedThread(name: "rtc-\(name)") { [self] in
      let note = search()
      found.withLock { note(&$0) }
      waiter.ring()
    }
  }
}
