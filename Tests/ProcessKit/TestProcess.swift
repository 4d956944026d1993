import CLinux
package import Dispatch
import Glibc
import RTCNet
import Synchronization

/// A program that a test runs, with nothing on its standard input.
///
/// Nothing waits for it without end. It is killed with the object, and when the process of the tests dies. It is reaped
/// the moment it ends: a dead child that nobody waited for would keep Swift Testing's exit tests from seeing theirs end.
package final class TestProcess: Sendable {
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// The destination of its standard error.
  package enum Errors: Sendable {
    case discarded
    /// Read with the output.
    case withOutput
  }

  /// The result of the process.
  package struct Outcome: Sendable {
    /// As a shell has it: 128 more than the signal that ended it.
    package let status: Int32
    package let output: [UInt8]
    package var text: String { String(decoding: output, as: UTF8.self) }
  }

  private let name: String
  private let life: Life

  /// - Parameters:
  ///   - command: the program, by its path or as found in the environment's `PATH`, and its arguments.
  ///   - environment: `NAME=value` each; nil: that of the tests.
  package init(_ command: [String], environment: [String]? = nil, errors: Errors = .discarded) throws {
    name = command.joined(separator: " ")
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw Failure(description: "no pipe for \(name)") }
    let (reading, writing) = (ends[0], ends[1])
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let life = Life()
    self.life = life
    let begun = DispatchSemaphore(value: 0)
    // The child is told to die with the thread that made it, which therefore stays until it is gone.
    _ = try NamedThread(name: "test-child") {
      let process = spawn(command, environment, output: writing, errors)
      close(writing)
      life.note { $0.process = process }
      begun.signal()
      if let process { life.reap(process) }
    }
    begun.wait()
    guard life.now.process != nil || life.now.status != nil else {
      close(reading)
      throw Failure(description: "\(name) cannot be started")
    }
    _ = try NamedThread(name: "test-child-out") { life.readAll(reading) }
  }

  deinit { life.signal(SIGKILL) }

  /// The output so far.
  package var output: String { String(decoding: life.now.output, as: UTF8.self) }

  /// True as soon as a line of its output contains `text`; false when the output ends without, or `limit` is over.
  package func says(_ text: String = "", within limit: DispatchTimeInterval = .seconds(20)) -> Bool {
    life.wait(limit) { $0.isOutputOver || $0.hasLine(text) } && life.now.hasLine(text)
  }

  /// It is gone when this returns: killed, where the signal did not help within ten seconds.
  package func end(_ signal: Int32 = SIGTERM) {
    life.signal(signal)
    if life.wait(.seconds(10), { $0.status != nil }) { return }
    life.signal(SIGKILL)
    _ = life.wait(.seconds(10)) { $0.status != nil }
  }

  /// Waits for its end and that of its output; it is killed, and this fails, when `limit` is over before.
  package func outcome(within limit: DispatchTimeInterval = .seconds(60)) throws -> Outcome {
    let isOver = life.wait(limit) { $0.status != nil && $0.isOutputOver }
    let state = life.now
    guard isOver, let status = state.status else {
      life.signal(SIGKILL)
      throw Failure(description: "\(name) did not end; it said: \(String(decoding: state.output, as: UTF8.self))")
    }
    return Outcome(status: status, output: state.output)
  }

  /// Runs a program to its end; fails unless it succeeds.
  @discardableResult
  package static func run(
    _ command: [String], environment: [String]? = nil, errors: Errors = .discarded
  ) throws -> Outcome {
    let outcome = try TestProcess(command, environment: environment, errors: errors).outcome()
    guard outcome.status == 0 else {
      let name = command.joined(separator: " ")
      throw Failure(description: "\(name) ended with \(outcome.status): \(outcome.text)")
    }
    return outcome
  }

  /// Runs a line of the shell and returns its result.
  @discardableResult
  package static func shell(_ line: String, errors: Errors = .withOutput) throws -> Outcome {
    try run(["/bin/sh", "-c", line], errors: errors)
  }
}

/// The state shared by a child's two threads and its owner.
private final class Life: Sendable {
  struct State {
    /// Nil before it lives and once it is reaped.
    var process: pid_t?
    var status: Int32?
    var output: [UInt8] = []
    var isOutputOver = false

    func hasLine(_ text: String) -> Bool {
      guard let last = output.lastIndex(of: UInt8(ascii: "\n")) else { return false }
      return text.isEmpty || String(decoding: output[..<last], as: UTF8.self).contains(text)
    }
  }

  private let state = Mutex(State())
  private let news = DispatchSemaphore(value: 0)

  var now: State { state.withLock { $0 } }

  func note(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    news.signal()
  }

  func wait(_ limit: DispatchTimeInterval, _ condition: (State) -> Bool) -> Bool {
    let end = DispatchTime.now() + limit
    while !state.withLock({ condition($0) }) {
      if DispatchTime.now() >= end { return false }
      // Looks again now and then: the news may have gone to somebody else who waits.
      _ = news.wait(timeout: min(end, .now() + .milliseconds(50)))
    }
    return true
  }

  /// To the child and its children, unless it is reaped, when its number may be another's.
  func signal(_ signal: Int32) { state.withLock { if let process = $0.process { kill(-process, signal) } } }

  func reap(_ process: pid_t) {
    var end = siginfo_t()
    while waitid(P_PID, id_t(process), &end, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    note { state in
      var status: Int32 = 0
      waitpid(process, &status, 0)
      state.process = nil
      state.status = status & 0x7F == 0 ? status >> 8 & 0xFF : 128 + status & 0x7F
    }
  }

  func readAll(_ descriptor: Int32) {
    var part = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(descriptor, &part, part.count), count > 0 { note { $0.output += part[..<count] } }
    close(descriptor)
    note { $0.isOutputOver = true }
  }
}

/// Starts a program in a process group of its own; nil when it cannot be.
private func spawn(
  _ command: [String], _ environment: [String]?, output: Int32, _ errors: TestProcess.Errors
) -> pid_t? {
  var actions = posix_spawn_file_actions_t()
  posix_spawn_file_actions_init(&actions)
  defer { posix_spawn_file_actions_destroy(&actions) }
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
  posix_spawn_file_actions_adddup2(&actions, output, 1)
  switch errors {
  case .discarded: posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
  case .withOutput: posix_spawn_file_actions_adddup2(&actions, output, 2)
  }
  posix_spawn_file_actions_addclosefrom_np(&actions, 3)
  var attributes = posix_spawnattr_t()
  posix_spawnattr_init(&attributes)
  defer { posix_spawnattr_destroy(&attributes) }
  // The thread of a test has signals blocked, others are ignored: a child that inherits that cannot be asked to end.
  var (none, all) = (sigset_t(), sigset_t())
  sigemptyset(&none)
  sigfillset(&all)
  posix_spawnattr_setsigmask(&attributes, &none)
  posix_spawnattr_setsigdefault(&attributes, &all)
  posix_spawnattr_setpgroup(&attributes, 0)
  posix_spawnattr_setflags(
    &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
  let line = ["/usr/bin/setpriv", "--pdeathsig", "KILL", "--"] + command
  var process: pid_t = 0
  let status = withCStrings(line) { arguments in
    guard let environment else {
      return posix_spawn(&process, line[0], &actions, &attributes, arguments, Glibc.environ)
    }
    return withCStrings(environment) { posix_spawn(&process, line[0], &actions, &attributes, arguments, $0) }
  }
  return status == 0 ? process : nil
}

private func withCStrings<R>(_ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> R) -> R {
  let copies = strings.map { strdup($0) } + [nil]
  defer { for copy in copies { free(copy) } }
  return body(copies)
}
