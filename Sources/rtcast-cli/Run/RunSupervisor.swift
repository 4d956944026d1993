import CRTCastRun
import Glibc
import RTCNet
import RTCPrimitives

/// The life of the process that supervises a run. It has one thread and waits in one place. `RunMachine` decides.
///
/// It is split off before the program confines itself. All processes that the run leaves behind become its children, so that it
/// can end each of them. If it is killed itself, the kernel ends those that it has started.
struct RunSupervisor {
  private let plan: RunPlan
  private let connection: Int32
  private let children: Int32
  private var machine: RunMachine
  private var processes: [RunMachine.Part: Int32] = [:]
  /// The pipe into which the display writes its number; -1: it has done so.
  private var number: Int32 = -1
  private var numberText: [UInt8] = []
  private var display = ""
  /// The number of the display's process, also after its end.
  private var displayProcess: Int32 = 0

  /// The interval between two looks whether the sound server accepts connections.
  private static let soundInterval: Int32 = 20
  /// The interval between two looks for processes that are left, which no signal announces.
  private static let leftoverInterval: Int32 = 100

  init(_ plan: RunPlan, connection: Int32) {
    (self.plan, self.connection) = (plan, connection)
    children = rtcast_run_supervise()
    machine = RunMachine(parts: plan.parts)
  }

  consuming func run() -> Never {
    guard children >= 0 else {
      plan.folder.remove()
      _exit(1)
    }
    carryOut(machine.begin(now: MonotonicClock.now()))
    while true {
      var events = [connection, children, number].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard poll(&events, nfds_t(events.count), patience) >= 0 else { continue }
      if events[2].revents != 0 { readNumber() }
      if events[1].revents != 0 { reap() }
      if events[0].revents != 0 { receive() }
      if machine.awaitsSound, Self.isServed(plan.folder.soundSocket) { handle(.soundReady) }
      if machine.awaitsLeftovers, leftovers.isEmpty { handle(.noLeftovers) }
      if let deadline = machine.deadline, MonotonicClock.now() >= deadline { handle(.time) }
    }
  }

  /// Milliseconds until something is due; negative: no limit.
  private var patience: Int32 {
    var patience: Int32 = -1
    if let deadline = machine.deadline {
      let wait = (deadline - MonotonicClock.now()).nanoseconds
      patience = wait <= 0 ? 0 : Int32(clamping: wait / 1_000_000 + 1)
    }
    let interval = machine.awaitsSound ? Self.soundInterval : machine.awaitsLeftovers ? Self.leftoverInterval : -1
    return interval < 0 ? patience : patience < 0 ? interval : min(interval, patience)
  }

  private mutating func handle(_ input: RunMachine.Input) {
    carryOut(machine.handle(input, now: MonotonicClock.now()))
  }

  private mutating func carryOut(_ actions: [RunMachine.Action]) {
    for action in actions {
      switch action {
      case .start(let part): start(part)
      case .signal(let part, let signal): if let process = processes[part] { kill(process, signal) }
      case .signalLeftovers(let signal): for process in leftovers { kill(process, signal) }
      case .tell(let report): tell(report)
      case .exit: end()
      }
    }
  }

  // MARK: - Inputs

  private mutating func receive() {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = recv(connection, &bytes, bytes.count, Int32(MSG_DONTWAIT))
    guard count > 0 else {
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      return handle(.programGone)
    }
    switch RunRequest(text: String(decoding: bytes[..<count], as: UTF8.self)) {
    case .startCommand: handle(.startCommand)
    case .stop(let signal, let isTyped): handle(.stop(signal: signal, isTyped: isTyped))
    case .finish: handle(.finish)
    case nil: break
    }
  }

  private mutating func reap() {
    rtcast_run_notice(children)
    var status: Int32 = 0
    while true {
      let process = rtcast_run_reap(&status)
      guard process > 0 else { return }
      guard let part = processes.first(where: { $0.value == process })?.key else { continue }
      processes[part] = nil
      handle(.ended(part, status: status))
    }
  }

  /// The display writes its number, and then a newline, when it accepts connections.
  private mutating func readNumber() {
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(number, &bytes, bytes.count)
    if count > 0 { numberText += bytes[..<count] }
    guard count <= 0 || numberText.contains(10) || numberText.count > 16 else { return }
    close(number)
    number = -1
    let text = String(decoding: numberText.prefix { $0 != 10 }, as: UTF8.self)
    // Without a number, the end of the display follows.
    guard Int(text) != nil else { return }
    display = text
    handle(.displayReady(":" + text))
  }

  /// Whether a server accepts connections at this path.
  private static func isServed(_ path: String) -> Bool {
    let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { return false }
    defer { close(socket) }
    return LocalAddress.with(path) { connect(socket, $0, $1) } == 0
  }

  private var leftovers: [Int32] {
    RunDescendants.all(without: [processes[.display], processes[.sound]].compactMap(\.self))
  }

  // MARK: - Actions

  private mutating func start(_ part: RunMachine.Part) {
    let process: Int32
    switch part {
    case .display: process = startDisplay()
    case .sound:
      process = startServer(plan.soundArguments, plan.serverEnvironment, log: plan.folder.otherLog)
    case .windowManager:
      let words = ["/bin/sh", "-c", "exec \(plan.windowManager ?? "")"]
      process = startServer(
        words, plan.environment(display: ":" + display), log: plan.folder.otherLog, deathSignal: SIGKILL)
    case .command:
      process = Self.start(
        plan.command, plan.environment(display: ":" + display), input: STDIN_FILENO,
        output: plan.keepsOutput ? STDERR_FILENO : STDOUT_FILENO, errors: STDERR_FILENO, deathSignal: SIGKILL)
    }
    guard process > 0 else { return handle(.notStarted(part, -process)) }
    processes[part] = process
    handle(.started(part))
  }

  private mutating func startDisplay() -> Int32 {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { return -errno }
    defer { close(ends[1]) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    let words = plan.server.arguments(size: plan.size, folder: plan.folder, number: ends[1])
    let process = startServer(words, plan.serverEnvironment, log: plan.folder.displayLog, passed: ends[1])
    if process > 0 { (number, displayProcess) = (ends[0], process) } else { close(ends[0]) }
    return process
  }

  private func startServer(
    _ words: [String], _ environment: [String], log: String, passed: Int32 = -1, deathSignal: Int32 = SIGTERM
  ) -> Int32 {
    let null = open("/dev/null", O_RDONLY | O_CLOEXEC)
    let log = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard null >= 0, log >= 0 else { return -errno }
    defer {
      close(null)
      close(log)
    }
    return Self.start(
      words, environment, input: null, output: log, errors: log, deathSignal: deathSignal, passed: passed,
      isServer: true)
  }

  private static func start(
    _ words: [String], _ environment: [String], input: Int32, output: Int32, errors: Int32, deathSignal: Int32,
    passed: Int32 = -1, isServer: Bool = false
  ) -> Int32 {
    let texts = words.map { strdup($0) }
    let variables = environment.map { strdup($0) }
    defer { for text in texts + variables { free(text) } }
    return (texts + [nil]).map { UnsafePointer($0) }.withUnsafeBufferPointer { texts in
      (variables + [nil]).map { UnsafePointer($0) }.withUnsafeBufferPointer { variables in
        var program = rtcast_run_program(
          arguments: texts.baseAddress, environment: variables.baseAddress, input: input, output: output,
          errors: errors, passed: passed, death_signal: deathSignal, is_server: isServer ? 1 : 0)
        return rtcast_run_start(&program)
      }
    }
  }

  private func tell(_ report: RunReport) {
    let bytes = Array(report.text.utf8)
    _ = send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  private func end() -> Never {
    removeLock()
    plan.folder.remove()
    _exit(0)
  }

  /// A display that was killed leaves its lock and its socket behind. Another display that looks for a free number may have
  /// removed the lock meanwhile.
  private func removeLock() {
    guard !display.isEmpty else { return }
    let (lock, socket) = ("/tmp/.X\(display)-lock", "/tmp/.X11-unix/X\(display)")
    if let text = ProcFile.text(lock) {
      guard Int32(text.filter({ !$0.isWhitespace })) == displayProcess else { return }
      unlink(lock)
    }
    if !Self.isServed(socket) { unlink(socket) }
  }
}
