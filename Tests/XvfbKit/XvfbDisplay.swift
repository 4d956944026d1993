import Glibc
import Synchronization

/// An X server of a test's own, ended with the object.
package final class XvfbDisplay: Sendable {
  struct LaunchFailure: Error {}

  package static let isInstalled = access("/usr/bin/Xvfb", X_OK) == 0
  private static let nextNumber = Mutex(40)

  package let name: String
  private let process: Mutex<pid_t?>

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
      let child = try Child(["/usr/bin/Xvfb"] + arguments + options, environment: [])
      // The server writes its number when it is ready, and closes the pipe when it cannot start.
      if child.readLine() {
        process = Mutex(child.id)
        name = ":\(number)"
        return
      }
      child.wait()
    }
    throw LaunchFailure()
  }

  deinit { end() }

  /// The server is gone when this returns.
  package func end() {
    process.withLock { process in
      guard let id = process else { return }
      kill(id, SIGTERM)
      var status: Int32 = 0
      waitpid(id, &status, 0)
      process = nil
    }
  }

  /// Runs a tool on this display to its end and returns what it printed.
  @discardableResult
  package func run(_ command: String...) throws -> String { try run(command) }

  @discardableResult
  private func run(_ command: [String]) throws -> String {
    let child = try Child(["/usr/bin/env"] + command, environment: ["DISPLAY=\(name)", "PATH=/usr/bin:/bin"])
    let output = child.readAll()
    child.wait()
    return output
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

/// A process whose output is read through a pipe.
private struct Child {
  let id: pid_t
  private let output: Int32

  init(_ command: [String], environment: [String]) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw XvfbDisplay.LaunchFailure() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The thread of a test has signals blocked, and a child would inherit that: it could not be asked to end.
    var none = sigset_t()
    sigemptyset(&none)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process: pid_t = 0
    let status = withCStrings(command) { arguments in
      withCStrings(environment) { posix_spawn(&process, command[0], &actions, &attributes, arguments, $0) }
    }
    close(ends[1])
    guard status == 0 else {
      close(ends[0])
      throw XvfbDisplay.LaunchFailure()
    }
    id = process
    output = ends[0]
  }

  /// Closes the output after the first line; false when there was none.
  func readLine() -> Bool {
    defer { close(output) }
    var byte: UInt8 = 0
    while read(output, &byte, 1) == 1 {
      if byte == UInt8(ascii: "\n") { return true }
    }
    return false
  }

  func readAll() -> String {
    defer { close(output) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while case let count = read(output, &part, part.count), count > 0 { bytes += part[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  func wait() {
    var status: Int32 = 0
    waitpid(id, &status, 0)
  }
}

private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return body(copies)
}
