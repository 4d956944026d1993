import Glibc
import ProcessKit
import Synchronization

/// An X server of a test's own, ended with the object.
package final class XvfbDisplay: Sendable {
  struct LaunchFailure: Error {}

  package static let isInstalled = access("/usr/bin/Xvfb", X_OK) == 0
  private static let nextNumber = Mutex(40)

  package let name: String
  private let server: TestProcess

  /// Returns when the server takes connections; numbers in use are passed over.
  package init(screen: String = "640x480x24", options: [String] = []) throws {
    for _ in 0..<10 {
      let number = Self.nextNumber.withLock { number in
        defer { number = number == 49 ? 40 : number + 1 }
        return number
      }
      // A server told where to report makes no lock file and would take the socket of another.
      if access("/tmp/.X11-unix/X\(number)", F_OK) == 0 { continue }
      let arguments = [":\(number)", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"]
      let server = try TestProcess(["/usr/bin/Xvfb"] + arguments + options, environment: [])
      // It writes its number when it is ready, and closes its output when it cannot start.
      if server.says() {
        self.server = server
        name = ":\(number)"
        return
      }
      server.end()
    }
    throw LaunchFailure()
  }

  deinit { end() }

  /// The server is gone when this returns.
  package func end() { server.end() }

  /// Runs a tool on this display to its end and returns what it printed.
  @discardableResult
  package func run(_ command: String...) throws -> String { try run(command) }

  @discardableResult
  private func run(_ command: [String]) throws -> String {
    try TestProcess(command, environment: ["DISPLAY=\(name)", "PATH=/usr/bin:/bin"]).outcome().text
  }

  /// Gives the screen another size, up to its first.
  package func resize(width: Int, height: Int) throws {
    // The timings are of no matter to a screen without a cable.
    let mode = ["test", "31.5"] + [0, 1, 2, 3].map { "\(width + $0)" } + [0, 1, 2, 3].map { "\(height + $0)" }
    try run(["xrandr", "--newmode"] + mode)
    try run("xrandr", "--addmode", "screen", "test")
    try run("xrandr", "--output", "screen", "--mode", "test")
  }
}
