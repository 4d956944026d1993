import Glibc

/// Each connection is an open file to the system.
enum OpenFiles {
  /// As many as the system lets this user have; the usual limit of 1,024 is for programs that use `select`.
  static func allowMost() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
