import CLinux
import Glibc
package import RTCNet
import Synchronization

/// A process beside this one that was split off before this one confined itself. It starts the program again in the roles,
/// creates the files, and opens the file with keys, that it was told of at its start, and does nothing else. It ends with the program, and ends what it
/// has started.
package final class Launcher: Sendable {
  private static let shared = Mutex<Launcher?>(nil)

  /// The launcher of this process; nil when the process starts others itself.
  package static var current: Launcher? { shared.withLock { $0 } }

  /// The kind of a request to a launcher, as the first byte of a message.
  enum Request: UInt8 {
    case start, create, remove, keys, newest
  }

  /// The connection to the launcher; the lock allows one request at a time.
  private let connection: Mutex<MessageSocket>

  private init(_ socket: MessageSocket) { connection = Mutex(socket) }

  /// Starts the launcher as a process of its own. It must be called once, while this process has one thread.
  package static func begin(_ duties: LauncherDuties) throws(SystemError) {
    let subject = "The process that starts others"
    var ends: [Int32] = [-1, -1]
    let status = unsafe clinux_message_pair(&ends)
    guard status == 0 else { throw SystemError(errno: -status, call: "socketpair", subject: subject) }
    let process = clinux_fork()
    if process == 0 {
      close(ends[0])
      LauncherProcess(MessageSocket(ends[1]), duties).run()
    }
    close(ends[1])
    let launcher = Launcher(MessageSocket(ends[0]))
    guard process > 0 else { throw SystemError(errno: -process, call: "fork", subject: subject) }
    shared.withLock { $0 = launcher }
  }

  /// Starts the program in a role.
  /// - Parameters:
  ///   - connection: the descriptor that becomes the child's descriptor 3; the caller must close it.
  ///   - name: the child's name in errors.
  /// - Returns: the process, and the end of a channel that reports the child's end and takes requests to kill it.
  func start(_ role: String, connection: Int32, name: String) throws(SystemError) -> (
    process: Int32, fate: MessageSocket
  ) {
    let (result, fate) = ask(.start, role, passing: connection)
    guard result > 0, let fate else {
      throw SystemError(errno: max(1, -result), call: "start", subject: name)
    }
    return (result, MessageSocket(fate))
  }

  /// Creates one of the files in the launcher's duties.
  /// - Returns: a descriptor that the caller must close, or the negated errno.
  package func create(_ path: String) -> Int32 {
    let (result, file) = ask(.create, path)
    return file ?? min(result, -1)
  }

  /// Opens the file with the keys of displays.
  /// - Returns: a descriptor that the caller must close; nil if there is no such file.
  package func openKeys() -> Int32? { ask(.keys, "").descriptor }

  /// Removes a file that was created by `create`, or an old one of a series.
  /// - Returns: false if it is not there or may not be removed.
  @discardableResult
  package func remove(_ path: String) -> Bool { ask(.remove, path).0 == 0 }

  /// The highest number of the files of a series; 0: there is none.
  /// - Parameter path: the path in the launcher's duties.
  package func newest(of path: String) -> Int { Int(max(0, ask(.newest, path).0)) }

  private func ask(_ request: Request, _ text: String, passing descriptor: Int32 = -1) -> (Int32, descriptor: Int32?) {
    connection.withLock { socket in
      var room: [UInt8] = []
      guard socket.send([request.rawValue] + Array(text.utf8), descriptor: descriptor, isPatient: true),
        case .message(let bytes, let passed) = socket.receive(into: &room)
      else { return (-ESRCH, nil) }
      return (LauncherProcess.number(in: bytes), passed)
    }
  }
}
