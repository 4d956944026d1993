import CRTCastRun
import Glibc
import RTCNet
import RTCPrimitives
import Synchronization

/// The display, the sound and the command of `rtcast run`, as the program sees them. A process that was split off before the
/// program confined itself owns them (`RunSupervisor`).
final class RunStage: Sendable {
  private static let begun = Mutex<Result<RunStage, CastFailure>?>(nil)

  /// The stage of this process, or why there is none; nil: the command is not `run`.
  static var current: Result<RunStage, CastFailure>? { begun.withLock { $0 } }

  /// The end of a command.
  enum End: Hashable, Sendable {
    /// As `waitpid` says it.
    case ended(status: Int32)
    /// The command could not be started: the error number.
    case notStarted(error: Int32)
    /// The supervisor is gone, and the command with it.
    case unknown
  }

  private struct State {
    var isRunning = false
    var end: End?
    var hasDisplay = true
    /// Whether the supervisor is gone.
    var isOver = false
    /// Whether the command was asked to end.
    var isStopped = false
  }

  /// The name of the display, as `:99`.
  let display: String
  /// Whether there is a sound server.
  let hasSound: Bool
  let plan: RunPlan
  private let connection: Int32
  private let supervisor: Int32
  private let state = Monitor(State())

  private init(_ plan: RunPlan, display: String, hasSound: Bool, connection: Int32, supervisor: Int32) {
    (self.plan, self.display, self.hasSound) = (plan, display, hasSound)
    (self.connection, self.supervisor) = (connection, supervisor)
  }

  // MARK: - Start

  /// Splits the supervisor off, and waits for the display and the sound. Before the first thread, and before the process confines
  /// itself. A failure is kept for the command, which reports it.
  static func begin(_ command: RunCommand) {
    let result: Result<RunStage, CastFailure>
    do throws(CastFailure) { result = .success(try start(command.plan())) } catch { result = .failure(error) }
    begun.withLock { $0 = result }
  }

  private static func start(_ plan: RunPlan) throws(CastFailure) -> RunStage {
    if let text = plan.server.configuration(size: plan.size) {
      try plan.folder.write(Array(text.utf8), to: plan.folder.displayConfiguration)
    }
    var connection: Int32 = -1
    let supervisor = rtcast_run_split(&connection)
    if supervisor == 0 { RunSupervisor(plan, connection: connection).run() }
    guard supervisor > 0 else {
      plan.folder.remove()
      throw CastFailure(
        .unavailable, "The process that runs the display cannot be started: \(words(-supervisor)). Try again later.")
    }
    while let report = receive(connection) {
      switch report {
      case .ready(let display, let hasSound):
        return adopt(plan, display: display, hasSound: hasSound, connection: connection, supervisor: supervisor)
      case .displayFailed(let error):
        let sentence = sentence(plan, error: error)
        send(.finish, to: connection)
        wait(for: supervisor)
        throw CastFailure(.unavailable, sentence)
      default: continue
      }
    }
    wait(for: supervisor)
    throw CastFailure(.unavailable, "The process that runs the display has ended. Try again.")
  }

  /// Makes the display and the sound those of this process.
  private static func adopt(
    _ plan: RunPlan, display: String, hasSound: Bool, connection: Int32, supervisor: Int32
  ) -> RunStage {
    setenv("DISPLAY", display, 1)
    setenv("XAUTHORITY", plan.folder.key, 1)
    setenv("PULSE_SERVER", plan.folder.soundServer, 1)
    unsetenv("PULSE_SINK")
    unsetenv("PULSE_SOURCE")
    // Standard output is the command's.
    if !plan.keepsOutput { dup2(STDERR_FILENO, STDOUT_FILENO) }
    return RunStage(plan, display: display, hasSound: hasSound, connection: connection, supervisor: supervisor)
  }

  private static func sentence(_ plan: RunPlan, error: Int32) -> String {
    let program = plan.server.program
    if error == ENOENT { return "There is no program \(program) for the display. \(plan.server.advice)" }
    if error != 0 { return "\(program) cannot be started for the display: \(words(error)). \(plan.server.advice)" }
    let said = plan.folder.displayComplaint
    return "\(program) did not start a display" + (said.isEmpty ? "." : "; it says: \(said)")
  }

  // MARK: - The command

  /// Starts the command, and reports what happens to it from a thread of its own.
  func startCommand(_ report: @escaping @Sendable (RunReport) -> Void) throws(CastFailure) {
    state.change { $0.isRunning = true }
    do throws(SystemError) {
      // Never joined: it lives as long as the process.
      _ = try NamedThread(name: "rtc-run") { [self] in
        while let next = Self.receive(connection) {
          note(next)
          report(next)
        }
        let wasRunning = state.change { state in
          defer { if state.end == nil { state.end = .unknown } }
          state.isOver = true
          return state.end == nil
        }
        if wasRunning { report(.displayEnded) }
      }
    } catch {
      state.change { $0.isRunning = false }
      throw CastFailure(.software, error.description)
    }
    Self.send(.startCommand, to: connection)
  }

  /// Whether the command was started and has not ended.
  var isRunning: Bool { state.withLock { $0.isRunning && $0.end == nil } }

  private func note(_ report: RunReport) {
    state.change { state in
      switch report {
      case .commandEnded(let status): state.end = .ended(status: status)
      case .commandNotStarted(let error): state.end = .notStarted(error: error)
      case .displayEnded: state.hasDisplay = false
      case .ready, .displayFailed, .commandStarted, .soundEnded, .windowManagerEnded: break
      }
    }
  }

  /// Asks the command to end; it is killed if it does not.
  /// - Parameter isTyped: the terminal has sent the signal to the command, too.
  /// - Returns: false if the command does not run.
  @discardableResult
  func stop(by signal: Int32, isTyped: Bool = false) -> Bool {
    let isRunning = state.withLock { state in
      guard state.isRunning, state.end == nil else { return false }
      state.isStopped = true
      return true
    }
    if isRunning { Self.send(.stop(signal: signal, isTyped: isTyped), to: connection) }
    return isRunning
  }

  /// How the command ended; nil: it was not started. Waits for its end. Not for a thread of Swift's concurrency.
  func end() -> End? {
    state.wait(until: nil) { state -> End?? in state.isRunning ? state.end.map(Optional.some) : .some(nil) } ?? nil
  }

  /// The exit status of the program after this end of the command.
  func status(after end: End) -> Int32 {
    switch end {
    case .ended(let status):
      let signal = status & 0x7F
      let own = signal == 0 ? status >> 8 & 0xFF : 128 + signal
      // A command that was ended because its display is gone has not ended by itself.
      let (hasDisplay, isStopped) = state.withLock { ($0.hasDisplay, $0.isStopped) }
      return signal != 0 && !hasDisplay && !isStopped ? ExitStatus.unavailable.rawValue : own
    case .notStarted(let error): return error == ENOENT || error == ENOTDIR ? 127 : 126
    case .unknown: return ExitStatus.software.rawValue
    }
  }

  /// Why a command could not be started, for a person.
  func refusal(_ error: Int32) -> String {
    let name = plan.command.first?.foreignText() ?? ""
    guard error == ENOENT else { return "\(name) cannot be started: \(Self.words(error))." }
    return name.contains("/")
      ? "There is no program \(name)."
      : "There is no program \(name) in the folders of PATH. Check its name, or give its path."
  }

  /// Ends the command, the display and the sound, and waits until they are gone.
  func finish() {
    Self.send(.finish, to: connection)
    Self.wait(for: supervisor)
    // Its last reports are read.
    _ = state.wait(until: nil) { !$0.isRunning || $0.isOver ? true : nil }
  }

  /// Whether the display ended before it was asked to.
  var hasLostDisplay: Bool { state.withLock { !$0.hasDisplay } }

  // MARK: - Messages

  private static func send(_ request: RunRequest, to connection: Int32) {
    let bytes = Array(request.text.utf8)
    _ = Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  /// The next report; nil: the supervisor is gone.
  private static func receive(_ connection: Int32) -> RunReport? {
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let count = recv(connection, &bytes, bytes.count, 0)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return nil }
      if let report = RunReport(text: String(decoding: bytes[..<count], as: UTF8.self)) { return report }
    }
  }

  private static func wait(for process: Int32) {
    while waitpid(process, nil, 0) < 0, errno == EINTR {}
  }

  private static func words(_ error: Int32) -> String { String(cString: strerror(error)) }
}
