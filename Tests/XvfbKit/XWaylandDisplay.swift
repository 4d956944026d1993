import Glibc
import ProcessKit

/// A display for X programs.
package protocol TestDisplay: Sendable {
  /// As in DISPLAY.
  var name: String { get }
}

extension XvfbDisplay: TestDisplay {}

/// An X server as Wayland desktops have it: XWayland, rootless, under a compositor without a screen. Ended with the object.
package final class XWaylandDisplay: TestDisplay {
  struct LaunchFailure: Error {}

  package static let isInstalled = access("/usr/bin/weston", X_OK) == 0 && access("/usr/bin/Xwayland", X_OK) == 0

  package let name: String
  private let compositor: TestProcess
  private let folder: String

  /// Returns when the display has its number; the server itself starts with the first program that connects.
  package init() throws {
    var template = Array("/tmp/rtc-wayland-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw LaunchFailure() }
    folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    compositor = try TestProcess(
      [
        "/usr/bin/weston", "--backend=headless-backend.so", "--xwayland", "--no-config", "--idle-time=0", "--width=640",
        "--height=480", "--socket=test",
      ], environment: ["XDG_RUNTIME_DIR=\(folder)", "PATH=/usr/bin:/bin"], errors: .withOutput)
    let mark = "xserver listening on display "
    guard compositor.says(mark),
      let line = compositor.output.split(separator: "\n").first(where: { $0.contains(mark) }),
      let number = line.split(separator: ":").last, UInt(number) != nil
    else {
      compositor.end()
      throw LaunchFailure()
    }
    name = ":\(number)"
  }

  deinit {
    compositor.end()
    for file in ["test", "test.lock"] { unlink("\(folder)/\(file)") }
    rmdir(folder)
  }
}
