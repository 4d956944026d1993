import CLinux
import Glibc

/// The child's side of the connection.
package enum ParentConnection {
  /// Where `ChildProgram` puts the connection.
  private static let descriptor = Int32(clinux_connection)

  /// Takes over descriptor 3, once at the start of the child; nil when it is no such connection, so that this was not started
  /// by rtcast. Crashes end the process at once from here on, and what a terminal sends does not.
  package static func open() -> MessageSocket? {
    var kind: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length) == 0,
      kind == Int32(SOCK_SEQPACKET.rawValue)
    else {
      return nil
    }
    // A crash ends this process at once: the other side tells of it, and no handler of ours is to hold it up.
    for crash in [SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT] { signal(crash, SIG_DFL) }
    // What the terminal sends is for the one who started this; that one says stop.
    for number in [SIGINT, SIGHUP, SIGPIPE] { signal(number, SIG_IGN) }
    return MessageSocket(descriptor)
  }
}
