import Glibc

/// A refusal by the operating system: the environment's fault, neither the peer's nor the caller's.
public struct SystemError: Error, Hashable, Sendable {
  /// The kernel's error number (`EADDRINUSE`, …).
  public var errno: Int32
  /// The system call that failed.
  public var call: String
  /// The object of the request, as at the start of the message: "UDP port 5000 on 0.0.0.0".
  public var subject: String

  /// A failure of a call with a positive `errno`.
  public init(errno: Int32, call: String, subject: String) {
    self.errno = errno
    self.call = call
    self.subject = subject
  }

  /// Passes on a shim's result, throwing when it is a negated errno.
  @discardableResult
  static func check(_ result: Int32, call: String, subject: String) throws(SystemError) -> Int32 {
    guard result < 0 else { return result }
    throw SystemError(errno: -result, call: call, subject: subject)
  }
}

extension SystemError: CustomStringConvertible {
  /// One line: what failed, why, and what to do next where that is known.
  public var description: String {
    let reason = unsafe String(cString: strerror(errno))  // thread-local in glibc since 2.32
    let sentence = "\(subject): \(reason) (\(call), errno \(errno))"
    return advice.map { "\(sentence). \($0)" } ?? sentence
  }

  private var advice: String? {
    switch errno {
    case EADDRINUSE: "Another program holds this port; stop it, choose another port, or use 0 for any free one."
    case EACCES: "Ports below 1024 need privilege; choose a higher port, or run with CAP_NET_BIND_SERVICE."
    case EADDRNOTAVAIL: "This machine has no such address; choose one that `ip address` lists."
    case EAFNOSUPPORT: "This machine has that IP version switched off; use an address of the other one."
    case EMFILE: "This process has too many files open; raise its limit with `ulimit -n`."
    case ENFILE, ENOMEM, ENOBUFS: "The machine is out of resources; end other programs and try again."
    case EAGAIN: "The limit on processes or threads is reached; raise it with `ulimit -u`."
    case EPERM: "A sandbox or firewall forbids it; allow it there."
    default: nil
    }
  }
}
