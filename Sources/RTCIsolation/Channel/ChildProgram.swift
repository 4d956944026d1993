import CLinux
import Glibc
package import RTCNet
import RTCPrimitives

/// A program that is started as a child with one end of a connection as its descriptor 3. The one place where children of
/// this kind are started: hosts of plugins and decoders.
package struct ChildProgram: Hashable, Sendable {
  /// The path of the program.
  package var executable: String
  /// The words of the command line, after the program's name.
  package var arguments: [String]

  package init(executable: String, arguments: [String]) {
    self.executable = executable
    self.arguments = arguments
  }

  /// Starts the program. If this process has a launcher, the launcher starts it: then `arguments` begin with one of the
  /// launcher's roles, which has its own environment. The program gets standard error, which is its standard output
  /// too, the connection, and no other descriptors.
  /// - Parameters:
  ///   - environment: the whole environment of the program, each variable as `NAME=value`.
  ///   - name: the child's name in errors: "The plugin's process".
  package func start(environment: [String], name: String) throws(SystemError) -> ChildProcess {
    var ends: [Int32] = [-1, -1]
    let status = unsafe clinux_message_pair(&ends)
    guard status == 0 else { throw SystemError(errno: -status, call: "socketpair", subject: name) }
    defer { close(ends[1]) }
    let socket = MessageSocket(ends[0])
    if let launcher = Launcher.current {
      let (process, fate) = try launcher.start(arguments.first ?? "", connection: ends[1], name: name)
      return ChildProcess(process: process, socket: socket, fate: fate)
    }
    let process = spawn(environment: environment, connection: ends[1])
    guard process > 0 else {
      throw SystemError(errno: -process, call: "posix_spawn", subject: "\(name) (\(executable))")
    }
    return ChildProcess(process: process, socket: socket)
  }

  /// Starts the program from this process.
  /// - Returns: the process, or the negated errno.
  func spawn(environment: [String], connection: Int32) -> Int32 {
    let texts = unsafe ([executable] + arguments).map { unsafe strdup($0) }
    defer { unsafe texts.forEach { unsafe free($0) } }
    let variables = unsafe environment.map { unsafe strdup($0) }
    defer { unsafe variables.forEach { unsafe free($0) } }
    return unsafe (texts + [nil]).withUnsafeBufferPointer { texts in
      unsafe (variables + [nil]).withUnsafeBufferPointer { variables in
        unsafe clinux_process_start(executable, texts.baseAddress, variables.baseAddress, connection)
      }
    }
  }
}

/// A child that was started, and our end of its connection. Somebody must wait for its end, once: `end(within:)`.
package struct ChildProcess: Sendable {
  /// The process number. The child was not waited for yet, so the number belongs to no other process.
  package var process: Int32
  package var socket: MessageSocket
  /// The launcher's channel for this child; nil when it is a child of this process.
  var fate: MessageSocket?

  /// Waits for a child whose connection is closed, and kills it after `milliseconds`.
  package func end(within milliseconds: Int32) -> ChildEnd {
    guard let fate else { return ChildEnd(status: clinux_process_reap(process, milliseconds)) }
    var room: [UInt8] = []
    if milliseconds > 0 {
      fate.setPatience(.milliseconds(Int64(milliseconds)))
      if case .message(let bytes, _) = fate.receive(into: &room) {
        return ChildEnd(status: LauncherProcess.number(in: bytes))
      }
    }
    kill()
    fate.setPatience(.zero)
    // When the launcher is gone, its children are gone too.
    guard case .message(let bytes, _) = fate.receive(into: &room) else { return ChildEnd(status: SIGKILL) }
    return ChildEnd(status: LauncherProcess.number(in: bytes))
  }

  /// Kills the child, through the launcher if that started it.
  package func kill() {
    guard let fate else {
      Glibc.kill(process, SIGKILL)
      return
    }
    fate.send(LauncherProcess.kill, isPatient: false)
  }
}

/// How a child ended, as `waitpid` says it.
package struct ChildEnd: Sendable, CustomStringConvertible {
  package var status: Int32

  /// The end of a sentence that begins with the child's name: "crashed (signal 11, …)".
  package var description: String {
    let signal = status & 0x7F
    if signal == 0 { return "ended its process with status \(status >> 8 & 0xFF)" }
    switch signal {
    case SIGSEGV: return "crashed (signal 11, memory it does not have)"
    case SIGABRT: return "crashed (signal 6, it gave up)"
    case SIGBUS: return "crashed (signal 7, memory that is gone)"
    case SIGKILL: return "was killed (signal 9; out of memory?)"
    default: return "was ended by signal \(signal)"
    }
  }
}
