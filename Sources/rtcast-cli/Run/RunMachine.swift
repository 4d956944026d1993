package import RTCPrimitives

/// The order in which the parts of a run start and end, sans-IO: the supervisor's process carries out the actions.
///
/// A run starts its display and its sound, then the window manager, and reports that it is ready. The program casts the display
/// and then has the command started. When the command has ended, the program completes the recording and finishes the run: all
/// processes that the command has left are ended, and after them the display and the sound. If the program dies, the run
/// finishes by itself.
package struct RunMachine {
  /// A process that the run starts.
  package enum Part: Hashable, Sendable {
    case display, sound, windowManager, command
  }

  package enum Input: Hashable, Sendable {
    /// The display accepts connections, at this number.
    case displayReady(String)
    case soundReady
    case started(Part)
    /// The program of a part could not be started: the error number.
    case notStarted(Part, Int32)
    /// A part has ended, as `waitpid` says it.
    case ended(Part, status: Int32)
    /// No process is left besides the display and the sound.
    case noLeftovers
    /// The program asks for the start of the command.
    case startCommand
    /// The program asks the command to end. If the signal was typed at the terminal, the command has it already.
    case stop(signal: Int32, isTyped: Bool)
    /// The program has completed its recording.
    case finish
    case programGone
    /// The deadline has been reached.
    case time
  }

  package enum Action: Hashable, Sendable {
    case start(Part)
    case signal(Part, Int32)
    /// A signal to every process of the run besides the display and the sound.
    case signalLeftovers(Int32)
    case tell(RunReport)
    /// All is gone: the supervisor ends.
    case exit
  }

  private enum Phase {
    /// The display, once it is known; and whether the sound is ready or given up.
    case preparing(display: String?, isSoundSettled: Bool)
    case ready
    /// The command runs. `end`: the next step of its end, once it was asked to end.
    case running(end: CommandEnding?)
    /// The command has ended, or will not be started: the program is to finish the run.
    case finishing
    /// Processes that the command has left are ended; the number of times that they were killed.
    case clearing(kills: Int)
    case closing(isKilled: Bool)
    case over
  }

  /// The next step in ending a command.
  private enum CommandEnding {
    /// SIGTERM: its display is gone.
    case term
    case kill
  }

  /// The time for a display to start. A loaded machine takes several seconds.
  static let displayPatience = TimeDelta.seconds(30)
  static let soundPatience = TimeDelta.seconds(10)
  /// The time for a command whose display is gone to end by itself.
  static let displayGrace = TimeDelta.seconds(2)
  /// The time for a command to end after a signal. Then it is killed.
  static let commandGrace = TimeDelta.seconds(5)
  /// The time for processes that the command has left.
  static let leftoverGrace = TimeDelta.seconds(2)
  static let killInterval = TimeDelta.milliseconds(100)
  private static let mostKills = 50
  /// The time for the display and the sound to end.
  static let closingGrace = TimeDelta.seconds(3)

  private let parts: Set<Part>
  private var phase: Phase
  private var running: Set<Part> = []
  private var hasSound = false

  /// The time of the next `time`; nil: none is due.
  package private(set) var deadline: Timestamp?

  /// - Parameter parts: the parts of the run; the display and the command are always among them.
  package init(parts: Set<Part>) {
    self.parts = parts
    phase = .preparing(display: nil, isSoundSettled: !parts.contains(.sound))
  }

  /// Whether the sound is still waited for.
  package var awaitsSound: Bool { if case .preparing(_, false) = phase { running.contains(.sound) } else { false } }

  /// Whether `noLeftovers` is waited for.
  package var awaitsLeftovers: Bool { if case .clearing = phase { true } else { false } }

  package mutating func begin(now: Timestamp) -> [Action] {
    deadline = now + (parts.contains(.sound) ? Self.soundPatience : Self.displayPatience)
    return [.start(.display)] + (parts.contains(.sound) ? [.start(.sound)] : [])
  }

  package mutating func handle(_ input: Input, now: Timestamp) -> [Action] {
    switch input {
    case .started(let part): running.insert(part)
    case .ended(let part, _), .notStarted(let part, _): running.remove(part)
    default: break
    }
    if input == .programGone || input == .finish { return clear(now: now) }
    switch phase {
    case .preparing(let display, let isSettled): return prepare(input, display, isSettled, now: now)
    case .ready: return wait(input)
    case .running(let end): return attend(input, end, now: now)
    case .finishing: return note(input)
    case .clearing(let kills): return clear(input, kills, now: now)
    case .closing(let isKilled): return close(input, isKilled, now: now)
    case .over: return []
    }
  }

  // MARK: - Start

  private mutating func prepare(_ input: Input, _ display: String?, _ isSettled: Bool, now: Timestamp) -> [Action] {
    switch input {
    case .displayReady(let number):
      let manager: [Action] = parts.contains(.windowManager) ? [.start(.windowManager)] : []
      return manager + prepared(number, isSettled)
    case .soundReady:
      hasSound = true
      return prepared(display, true)
    case .ended(.sound, _), .notStarted(.sound, _): return prepared(display, true)
    case .ended(.display, _): return fail(error: 0)
    case .notStarted(.display, let error): return fail(error: error)
    case .notStarted(.windowManager, _), .ended(.windowManager, _): return [.tell(.windowManagerEnded)]
    case .time:
      guard isSettled else {
        deadline = now + (Self.displayPatience - Self.soundPatience)
        return [.signal(.sound, killSignal)] + prepared(display, true)
      }
      return fail(error: 0)
    default: return []
    }
  }

  /// Without a display there is nothing to do but to be finished.
  private mutating func fail(error: Int32) -> [Action] {
    phase = .finishing
    deadline = nil
    return [.tell(.displayFailed(error: error))]
  }

  private mutating func prepared(_ display: String?, _ isSettled: Bool) -> [Action] {
    guard let display, isSettled else {
      phase = .preparing(display: display, isSoundSettled: isSettled)
      return []
    }
    phase = .ready
    deadline = nil
    return [.tell(.ready(display: display, hasSound: hasSound))]
  }

  private mutating func wait(_ input: Input) -> [Action] {
    switch input {
    case .startCommand:
      phase = .running(end: nil)
      return [.start(.command)]
    case .ended(let part, _), .notStarted(let part, _): return lost(part)
    default: return []
    }
  }

  // MARK: - The command

  private mutating func attend(_ input: Input, _ end: CommandEnding?, now: Timestamp) -> [Action] {
    switch input {
    case .started(.command): return [.tell(.commandStarted)]
    case .notStarted(.command, let error):
      phase = .finishing
      return [.tell(.commandNotStarted(error: error))]
    case .ended(.command, let status):
      phase = .finishing
      deadline = nil
      return [.tell(.commandEnded(status: status))]
    case .ended(.display, _) where end == nil:
      phase = .running(end: .term)
      deadline = now + Self.displayGrace
      return lost(.display)
    case .ended(let part, _), .notStarted(let part, _): return lost(part)
    case .stop(let signal, let isTyped):
      // A second request does not give the command more time.
      if end != .kill { deadline = now + Self.commandGrace }
      phase = .running(end: .kill)
      return isTyped ? [] : [.signal(.command, signal)]
    case .time:
      switch end {
      case .term:
        phase = .running(end: .kill)
        deadline = now + Self.commandGrace
        return [.signal(.command, termSignal)]
      case .kill:
        deadline = nil
        return [.signal(.command, killSignal)]
      case nil: return []
      }
    default: return []
    }
  }

  private func lost(_ part: Part) -> [Action] {
    switch part {
    case .display: [.tell(.displayEnded)]
    case .sound: hasSound ? [.tell(.soundEnded)] : []
    case .windowManager: [.tell(.windowManagerEnded)]
    case .command: []
    }
  }

  // MARK: - End

  /// Ends all processes that the command has left, the command and the window manager among them.
  private mutating func clear(now: Timestamp) -> [Action] {
    switch phase {
    case .clearing, .closing, .over: return []
    case .preparing, .ready, .running, .finishing:
      phase = .clearing(kills: 0)
      deadline = now + Self.leftoverGrace
      return [.signalLeftovers(termSignal)]
    }
  }

  private mutating func clear(_ input: Input, _ kills: Int, now: Timestamp) -> [Action] {
    switch input {
    case .noLeftovers: return close(now: now)
    case .time where kills < Self.mostKills:
      // A process may have made others meanwhile.
      phase = .clearing(kills: kills + 1)
      deadline = now + Self.killInterval
      return [.signalLeftovers(killSignal)]
    // A process that cannot be killed hangs in the kernel.
    case .time: return close(now: now)
    default: return note(input)
    }
  }

  /// A command ends with its display, and is often noticed first.
  private func note(_ input: Input) -> [Action] {
    if case .ended(.display, _) = input { lost(.display) } else { [] }
  }

  private mutating func close(now: Timestamp) -> [Action] {
    phase = .closing(isKilled: false)
    deadline = now + Self.closingGrace
    return servers.isEmpty ? exit() : servers.map { .signal($0, termSignal) }
  }

  private mutating func close(_ input: Input, _ isKilled: Bool, now: Timestamp) -> [Action] {
    // A display that was asked to end does so with a status of its own. Another one may have been killed before the command ended.
    var actions: [Action] = []
    if case .ended(.display, let status) = input, status == killSignal, !isKilled { actions = lost(.display) }
    if servers.isEmpty { return actions + exit() }
    guard input == .time else { return actions }
    guard !isKilled else { return exit() }
    phase = .closing(isKilled: true)
    deadline = now + Self.closingGrace
    return servers.map { .signal($0, killSignal) }
  }

  /// The display and the sound, as far as they run.
  private var servers: [Part] { [.display, .sound].filter(running.contains) }

  private mutating func exit() -> [Action] {
    phase = .over
    deadline = nil
    return [.exit]
  }
}

// Signals by number: a machine imports nothing of the system.
private let killSignal: Int32 = 9
private let termSignal: Int32 = 15
