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
      if Self.isTaken(number) { continue }
      let arguments = [":\(number)", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"]
      let server = try TestProcess(["/usr/bin/Xvfb"] + arguments + options, environment: [])
      // It writes its number when it is ready, and closes its output when it cannot start.
      if server.says() {
        self.server = server
        name = ":\(number)"
        return
      }
      // Somebody else has the number after all. One that neither begins nor ends is a failure.
      _ = try server.outcome(within: .seconds(5))
    }
    throw LaunchFailure()
  }

  /// The server of this display. Returns when it takes connections.
  package init(number: Int, screen: String = "640x480x24") throws {
    let arguments = [":\(number)", "-displayfd", "1", "-screen", "0", screen, "-nolisten", "tcp", "-noreset"]
    server = try TestProcess(["/usr/bin/Xvfb"] + arguments, environment: [])
    name = ":\(number)"
    guard server.says() else { throw LaunchFailure() }
  }

  private static func isTaken(_ number: Int) -> Bool {
    let path = "/tmp/.X11-unix/X\(number)"
    guard access(path, F_OK) == 0 else { return false }
    let client = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(client) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let isAnswered = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(client, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
      }
    }
    // Where nobody answers, a server was killed and has left its socket.
    return isAnswered || unlink(path) != 0
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
