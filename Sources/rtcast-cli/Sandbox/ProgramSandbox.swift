import ArgumentParser
import RTCIsolation
import RTCNet
import Synchronization

/// The sandbox of this process.
enum ProgramSandbox {
  private static let entered = Mutex<Sandbox?>(nil)

  /// The sandbox in force; nil: `--no-sandbox`, or a command that is not confined by it.
  static var current: Sandbox? { entered.withLock { $0 } }

  /// Splits the launcher off and confines this process, as its command needs it. Before the first thread.
  static func enter(for command: any ParsableCommand) {
    guard let command = command as? any ConfinedCommand, !command.sandbox.isOff else { return }
    var needs = SandboxNeeds()
    command.state(&needs)
    let duties = needs.duties
    if !duties.isEmpty {
      do throws(SystemError) { try Launcher.begin(duties) } catch {
        // Without the launcher, the confined command could not do its task.
        return complain("rtcast is not confined. \(error)")
      }
      if duties.keys != nil { DisplayKeys.begin() }
    }
    let sandbox = Sandbox.enter(needs.rules)
    entered.withLock { $0 = sandbox }
    if let shortcoming = sandbox.shortcoming, !(command is DoctorCommand) { complain(shortcoming) }
  }

  private static func complain(_ sentence: String) {
    StandardErrorLog.logger(verbosity: 0).warning("\(sentence)")
  }
}
