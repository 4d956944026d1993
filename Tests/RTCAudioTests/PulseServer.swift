import Glibc
import ProcessKit
import Synchronization
import Testing

/// The tests that need a sound server share two cores: one after the other.
@Suite(.timeLimit(.minutes(2)), .serialized, .enabled(if: PulseServer.isInstalled)) struct PulseTests {}

/// A PulseAudio server of a test's own, in a directory of its own, ended with the object.
final class PulseServer: Sendable {
  struct LaunchFailure: Error { var output = "" }

  static let isInstalled = access("/usr/bin/pulseaudio", X_OK) == 0 && access("/usr/bin/pacat", X_OK) == 0

  let directory: String
  private let modules: [String]
  private let server = Mutex<TestProcess?>(nil)
  private let players = Mutex<[TestProcess]>([])

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
    let child = try TestProcess(
      ["/usr/bin/pulseaudio", "-n", "--daemonize=no", "--exit-idle-time=-1", "--use-pid-file=no", "--disallow-exit"]
        + ["--realtime=no", "--high-priority=no", "--log-target=stderr", "--log-level=info"]
        + loads.map { "--load=\($0)" },
      environment: environment, errors: .withOutput)
    guard child.says("Daemon startup complete") else {
      child.end(SIGKILL)
      throw LaunchFailure(output: try child.outcome().text)
    }
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
  /// - Parameter program: the name by which the server knows what plays.
  func play(_ frequency: Double, on sink: String? = nil, as program: String = "pacat") throws {
    let file = "\(directory)/\(Int(frequency)).raw"
    if access(file, R_OK) != 0 { try Self.writeTone(frequency, to: file) }
    let device = sink.map { ["--device=\($0)"] } ?? []
    let child = try TestProcess(
      ["/usr/bin/pacat", "--raw", "--format=s16ne", "--rate=48000", "--channels=1", "--latency-msec=50"]
        + ["--client-name=\(program)"] + device + [file],
      environment: environment)
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
    try TestProcess.run([program] + arguments, environment: environment, errors: .withOutput).text
  }
}
