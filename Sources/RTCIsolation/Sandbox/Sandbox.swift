import CLinux
import Glibc

/// How far this process is confined: no new privileges, few of root's capabilities, Landlock for files and signals, and a filter of
/// system calls.
///
/// Landlock binds the thread that asks for it and the threads that it starts, and so do capabilities. A program therefore enters
/// before its first thread. The filter binds all threads.
package struct Sandbox: Sendable {
  /// An action that is impossible for a confined program.
  package enum Trial: String, CaseIterable, Sendable {
    case read = "reading a foreign folder"
    case write = "writing a file"
    case program = "starting a program"
    case process = "making a process"
    case trace = "tracing a process"
    case signal = "signals to other programs"
    case socket = "sockets of other kinds"
    case mount = "mounting"
    case key = "the kernel's keys"
    case root = "root's power over the machine"

    fileprivate var number: clinux_trial {
      switch self {
      case .read: clinux_trial_read
      case .write: clinux_trial_write
      case .program: clinux_trial_program
      case .process: clinux_trial_process
      case .trace: clinux_trial_trace
      case .signal: clinux_trial_signal
      case .socket: clinux_trial_socket
      case .mount: clinux_trial_mount
      case .key: clinux_trial_key
      case .root: clinux_trial_root
      }
    }
  }

  /// The version of Landlock that is in force, or the negated errno.
  package let landlock: Int32
  /// The result of the filter of system calls: 0, or the negated errno.
  package let filter: Int32
  /// The number of threads before the process was confined.
  package let threads: Int32

  /// Confines this process as far as the system can. It cannot be undone.
  package static func enter(_ rules: SandboxRules) -> Sandbox {
    let threads = clinux_thread_count()
    let privileges = clinux_no_new_privileges()
    guard privileges == 0 else { return Sandbox(landlock: privileges, filter: privileges, threads: threads) }
    let landlock = enforce(rules)
    _ = clinux_drop_capabilities()  // `tryAll` tells whether they are gone
    return Sandbox(
      landlock: landlock, filter: clinux_refuse_calls(rules.allowsLocalSockets ? 1 : 0), threads: threads)
  }

  private static func enforce(_ rules: SandboxRules) -> Int32 {
    let version = clinux_landlock_version()
    guard version > 0 else { return version == 0 ? -ENOSYS : version }
    let set = clinux_landlock_begin(version)
    guard set >= 0 else { return set }
    defer { close(set) }
    // A path that is not there, or that is no file of a disk, needs no rule.
    for (path, access) in rules.files { _ = unsafe clinux_landlock_allow(set, path, access.kinds, version) }
    let status = clinux_landlock_enforce(set)
    return status < 0 ? status : version
  }

  /// The measures in force, in a few words.
  package var description: String {
    var parts: [String] = []
    if filter == 0 { parts.append("system calls are filtered") }
    if landlock > 0 { parts.append("files and signals by Landlock, version \(landlock)") }
    return parts.isEmpty ? "not confined" : parts.joined(separator: "; ")
  }

  /// The missing measures, in a sentence for a person; nil when none is missing.
  package var shortcoming: String? {
    var sentences: [String] = []
    if landlock <= 0 {
      let reason =
        switch -landlock {
        case ENOSYS: "This kernel has no Landlock"
        case EOPNOTSUPP: "Landlock is switched off on this machine"
        default: "Landlock is refused (\(Self.words(-landlock)))"
        }
      sentences.append("\(reason), so rtcast may read and write all files that its user may.")
    } else if threads > 1 {
      sentences.append("Threads were started before Landlock, which does not hold them.")
    }
    if filter != 0 {
      sentences.append(
        "A filter of system calls is refused (\(Self.words(-filter))), so rtcast may start programs and look into others."
      )
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }

  /// Tries each action that should be refused, harmlessly.
  /// - Returns: the actions that were not refused.
  package static func tryAll() -> [Trial] { Trial.allCases.filter { clinux_try($0.number) != 0 } }

  /// The system's text for an error number.
  private static func words(_ number: Int32) -> String { unsafe String(cString: strerror(number)) }
}
