import Dispatch
import Glibc
import Synchronization
import Testing

/// The tests that need a sound server share two cores: one after the other.
@Suite(.serialized, .enabled(if: PulseServer.isInstalled)) struct PulseTests {}

/// A PulseAudio server of a test's own, in a directory of its own, ended with the object.
final class PulseServer: Sendable {
  struct LaunchFailure: Error { var output = "" }

  static let isInstalled = access("/usr/bin/pulseaudio", X_OK) == 0 && access("/usr/bin/pacat", X_OK) == 0

  let directory: String
  private let modules: [String]
  private let server = Mutex<Child?>(nil)
  private let players = Mutex<[Child]>([])

  /// Returns when the server takes connections.
  /// - Parameter modules: what it loads, each with its arguments.
  init(_ modules: String...) throws {
    var template = Array("/tmp/rtcast-pulse-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw LaunchFailure() }
    directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    self.modules = modules
    try start()
  }

  deinit {
    end()
    _ = try? run("/bin/rm", "-rf", directory)
  }

  /// Without rewinding its buffer is 50 ms and not two seconds: sound is there at once.
  static func nullSink(_ name: String) -> String {
    "module-null-sink norewinds=1 sink_name=\(name) sink_properties=device.description=Output-\(name)"
  }

  /// An input that hears a tone without end.
  static func microphone(_ name: String, frequency: Int) -> String {
    "module-sine-source source_name=\(name) frequency=\(frequency)"
  }

  var address: String { "unix:\(directory)/native" }

  func start() throws {
    let loads = ["module-native-protocol-unix auth-anonymous=1 socket=\(directory)/native"] + modules
    let child = try Child(
      ["/usr/bin/pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disallow-exit"]
        + ["--realtime=no", "--high-priority=no", "--log-target=stderr", "--log-level=info"]
        + loads.map { "--load=\($0)" },
      environment: environment)
    guard child.readLines(until: "Daemon startup complete") else { throw LaunchFailure(output: "no start") }
    child.drain()
    server.withLock { $0 = child }
  }

  /// The server, and what plays on it, are gone when this returns.
  func end() {
    stopPlaying()
    server.withLock {
      $0?.end(SIGKILL)
      $0 = nil
    }
  }

  /// `pactl` on this server; what it printed.
  @discardableResult
  func control(_ arguments: String...) throws -> String { try run("/usr/bin/pactl", arguments) }

  /// Plays a tone, on the default output unless another is named.
  func play(_ frequency: Double, on sink: String? = nil) throws {
    let file = "\(directory)/\(Int(frequency)).raw"
    if access(file, R_OK) != 0 { try Self.writeTone(frequency, to: file) }
    let device = sink.map { ["--device=\($0)"] } ?? []
    let child = try Child(
      ["/usr/bin/pacat", "--raw", "--format=s16ne", "--rate=48000", "--channels=1", "--latency-msec=50"] + device + [
        file
      ],
      environment: environment)
    child.drain()
    players.withLock { $0.append(child) }
  }

  func stopPlaying() {
    for player in players.withLock({ players in
      defer { players = [] }
      return players
    }) { player.end(SIGKILL) }
  }

  /// A minute, at half the height.
  private static func writeTone(_ frequency: Double, to path: String) throws {
    let samples = (0..<48_000 * 60).map { Int16(16_384 * sin(2 * .pi * frequency * Double($0) / 48_000)) }
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    defer { close(descriptor) }
    let written = samples.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
    guard written == samples.count * 2 else { throw LaunchFailure() }
  }

  private var environment: [String] {
    [
      "PATH=/usr/bin:/bin", "LC_ALL=C", "HOME=\(directory)", "XDG_RUNTIME_DIR=\(directory)",
      "PULSE_RUNTIME_PATH=\(directory)", "PULSE_STATE_PATH=\(directory)", "PULSE_SERVER=\(address)",
    ]
  }

  @discardableResult
  private func run(_ program: String, _ arguments: String...) throws -> String { try run(program, arguments) }

  private func run(_ program: String, _ arguments: [String]) throws -> String {
    let child = try Child([program] + arguments, environment: environment)
    let output = child.readAll()
    guard child.wait() == 0 else { throw LaunchFailure(output: output) }
    return output
  }
}

/// A process whose output and errors are read through a pipe.
private final class Child: Sendable {
  let id: pid_t
  private let output: Int32

  init(_ command: [String], environment: [String]) throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw PulseServer.LaunchFailure() }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
    posix_spawn_file_actions_adddup2(&actions, ends[1], 2)
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // The thread of a test has signals blocked, and a child would inherit that.
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
      throw PulseServer.LaunchFailure()
    }
    id = process
    output = ends[0]
  }

  /// Reads up to the line that contains `text`; false when the process ends before, or says nothing for 20 seconds.
  func readLines(until text: String) -> Bool {
    var line: [UInt8] = []
    var byte: UInt8 = 0
    while true {
      var wanted = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      guard poll(&wanted, 1, 20_000) == 1, read(output, &byte, 1) == 1 else { return false }
      if byte != UInt8(ascii: "\n") {
        line.append(byte)
      } else if String(decoding: line, as: UTF8.self).contains(text) {
        return true
      } else {
        line = []
      }
    }
  }

  /// Reads and forgets the rest, so that the process never waits for a reader.
  func drain() { DispatchQueue.global().async { _ = self.readAll() } }

  func readAll() -> String {
    defer { close(output) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    while case let count = read(output, &part, part.count), count > 0 { bytes += part[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  func end(_ signal: Int32) {
    kill(id, signal)
    _ = wait()
  }

  func wait() -> Int32 {
    var status: Int32 = 0
    waitpid(id, &status, 0)
    return status
  }
}

private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return body(copies)
}
