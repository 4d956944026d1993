import Glibc

/// Each connection is an open file to the system.
package enum OpenFiles {
  /// Descriptors kept for what is no connection of a client: sockets of media and of TURN, recordings, sources, devices.
  private static let reserve = 192
  /// Connections that a server takes however few descriptors there are.
  private static let leastConnections = 64

  /// As many as the system lets this user have; the usual limit of 1,024 is for programs that use `select`.
  static func allowMost() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// How many connections may be taken of those that are wanted, so that clients cannot use up what media needs. Called after
  /// `allowMost`. A hub's connections begin as the server's, so that both share the same descriptors.
  static func share(of wanted: Int) -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != .max else {
      return wanted
    }
    return share(of: wanted, limit: Int(clamping: limit.rlim_cur))
  }

  package static func share(of wanted: Int, limit: Int) -> Int {
    min(wanted, max(leastConnections, (limit - reserve) / 2))
  }
}
