import RTCPrimitives
import Testing
import rtcast_cli

/// The order in which the parts of `rtcast run` start and end, by the actions that the machine returns.
@Suite struct RunMachineTests {
  private static let killed: Int32 = 9
  private static let terminated: Int32 = 15
  private var machine: RunMachine
  private var now = Timestamp.zero

  init() { machine = RunMachine(parts: [.display, .sound, .windowManager, .command]) }

  private mutating func take(_ input: RunMachine.Input, after time: TimeDelta = .zero) -> [RunMachine.Action] {
    now += time
    return machine.handle(input, now: now)
  }

  /// Reaches the deadline.
  private mutating func wait() throws -> [RunMachine.Action] {
    now = try #require(machine.deadline)
    return machine.handle(.time, now: now)
  }

  /// Brings the machine to the command that runs.
  private mutating func runCommand() {
    _ = machine.begin(now: now)
    for part in [RunMachine.Part.display, .sound] { _ = take(.started(part)) }
    _ = take(.soundReady)
    _ = take(.displayReady(":7"))
    _ = take(.started(.windowManager))
    _ = take(.startCommand)
    _ = take(.started(.command))
  }

  @Test mutating func `a run goes through its parts and ends them in the reverse order`() {
    #expect(machine.begin(now: now) == [.start(.display), .start(.sound)])
    #expect(take(.started(.display)) == [])
    #expect(take(.started(.sound)) == [])
    #expect(take(.displayReady(":7")) == [.start(.windowManager)])
    #expect(machine.awaitsSound)
    #expect(take(.soundReady) == [.tell(.ready(display: ":7", hasSound: true))])
    #expect(machine.deadline == nil)
    #expect(take(.started(.windowManager)) == [])
    #expect(take(.startCommand) == [.start(.command)])
    #expect(take(.started(.command)) == [.tell(.commandStarted)])
    #expect(take(.ended(.command, status: 256)) == [.tell(.commandEnded(status: 256))])
    #expect(take(.finish) == [.signalLeftovers(Self.terminated)])
    #expect(machine.awaitsLeftovers)
    #expect(take(.ended(.windowManager, status: 0)) == [])
    #expect(take(.noLeftovers) == [.signal(.display, Self.terminated), .signal(.sound, Self.terminated)])
    #expect(take(.ended(.display, status: 0)) == [])
    #expect(take(.ended(.sound, status: 0)) == [.exit])
    #expect(machine.deadline == nil)
  }

  @Test mutating func `a run goes on without a sound that fails or hangs`() throws {
    _ = machine.begin(now: now)
    _ = take(.started(.display))
    _ = take(.displayReady(":7"))
    var other = machine
    #expect(take(.notStarted(.sound, 2)) == [.tell(.ready(display: ":7", hasSound: false))])
    _ = other.handle(.started(.sound), now: now)
    now = try #require(other.deadline)
    #expect(
      other.handle(.time, now: now) == [.signal(.sound, Self.killed), .tell(.ready(display: ":7", hasSound: false))])
  }

  @Test mutating func `a display that does not start is reported, and the program finishes the run`() throws {
    _ = machine.begin(now: now)
    #expect(take(.notStarted(.display, 2)) == [.tell(.displayFailed(error: 2))])
    #expect(take(.finish) == [.signalLeftovers(Self.terminated)])
    #expect(take(.noLeftovers) == [.exit])
  }

  @Test mutating func `a command that ignores the signal is killed after five seconds`() throws {
    runCommand()
    #expect(take(.stop(signal: 2, isTyped: false)) == [.signal(.command, 2)])
    let deadline = try #require(machine.deadline)
    #expect(deadline - now == .seconds(5))
    // Another request does not give it more time.
    #expect(take(.stop(signal: 15, isTyped: false), after: .seconds(2)) == [.signal(.command, 15)])
    #expect(machine.deadline == deadline)
    #expect(try wait() == [.signal(.command, Self.killed)])
    #expect(take(.ended(.command, status: Self.killed)) == [.tell(.commandEnded(status: Self.killed))])
  }

  @Test mutating func `a command has a signal that was typed already`() throws {
    runCommand()
    #expect(take(.stop(signal: 2, isTyped: true)) == [])
    #expect(try wait() == [.signal(.command, Self.killed)])
  }

  @Test mutating func `a command whose display has ended may end by itself before it is ended`() throws {
    runCommand()
    #expect(take(.ended(.display, status: 11)) == [.tell(.displayEnded)])
    #expect(try wait() == [.signal(.command, Self.terminated)])
    #expect(try wait() == [.signal(.command, Self.killed)])
    _ = take(.ended(.command, status: Self.killed))
    _ = take(.finish)
    #expect(take(.noLeftovers) == [.signal(.sound, Self.terminated)])
  }

  @Test mutating func `a display whose end is noticed after that of the command is reported`() {
    runCommand()
    _ = take(.ended(.command, status: 256))
    #expect(take(.ended(.display, status: 9)) == [.tell(.displayEnded)])
    _ = take(.finish)
    #expect(take(.noLeftovers) == [.signal(.sound, Self.terminated)])
    runCommandAgain()
    _ = take(.ended(.command, status: 256))
    _ = take(.finish)
    _ = take(.noLeftovers)
    #expect(take(.ended(.display, status: 9)) == [.tell(.displayEnded)])
    #expect(take(.ended(.sound, status: 0)) == [.exit])
  }

  private mutating func runCommandAgain() {
    machine = RunMachine(parts: [.display, .sound, .windowManager, .command])
    runCommand()
  }

  @Test mutating func `processes that ignore SIGTERM are killed, also those that they have made since`() throws {
    runCommand()
    _ = take(.ended(.command, status: 0))
    _ = take(.finish)
    #expect(try wait() == [.signalLeftovers(Self.killed)])
    #expect(try wait() == [.signalLeftovers(Self.killed)])
    #expect(take(.noLeftovers) == [.signal(.display, Self.terminated), .signal(.sound, Self.terminated)])
    #expect(try wait() == [.signal(.display, Self.killed), .signal(.sound, Self.killed)])
    #expect(try wait() == [.exit])
  }

  @Test mutating func `processes that cannot be killed do not keep the run`() throws {
    runCommand()
    _ = take(.ended(.command, status: 0))
    _ = take(.finish)
    var ends = 0
    while machine.awaitsLeftovers {
      _ = try wait()
      ends += 1
      try #require(ends < 100)
    }
    #expect(machine.deadline != nil)
  }

  @Test mutating func `a program that dies ends the run wherever it is`() throws {
    _ = machine.begin(now: now)
    _ = take(.started(.display))
    #expect(take(.programGone) == [.signalLeftovers(Self.terminated)])
    #expect(take(.noLeftovers) == [.signal(.display, Self.terminated)])
    machine = RunMachine(parts: [.display, .command])
    runCommand()
    #expect(take(.programGone) == [.signalLeftovers(Self.terminated)])
    #expect(take(.programGone) == [])
  }

  @Test mutating func `a command that cannot be started is reported`() {
    runCommand()
    machine = RunMachine(parts: [.display, .command])
    _ = machine.begin(now: now)
    _ = take(.started(.display))
    #expect(take(.displayReady(":7")) == [.tell(.ready(display: ":7", hasSound: false))])
    #expect(take(.startCommand) == [.start(.command)])
    #expect(take(.notStarted(.command, 2)) == [.tell(.commandNotStarted(error: 2))])
  }

  @Test(arguments: [
    RunReport.ready(display: ":12", hasSound: true), .ready(display: ":0", hasSound: false), .displayFailed(error: 2),
    .commandStarted, .commandNotStarted(error: 13), .commandEnded(status: 35072), .displayEnded, .soundEnded,
    .windowManagerEnded,
  ]) func `a report passes as a message`(report: RunReport) { #expect(RunReport(text: report.text) == report) }

  @Test(arguments: ["", "ready", "ready :0", "ended", "ended x", "nonsense 1"])
  func `a message that is no report is none`(text: String) { #expect(RunReport(text: text) == nil) }
}
