import Glibc

/// Each connection is an open file to the system.
package enum OpenFiles {
  /// Descriptors reserved for other uses than clients' connections: sockets of media and TURN, recordings, sources,
  /// devices.
  private static let reserve = 192
  /// Connections that a server takes however few descriptors there are.
  private static let leastConnections = 64
  /// Relayed addresses that a TURN server gives however few descriptors there are.
  private static let leastRelays = 16

  /// Raises the limit to the system's maximum for this user; the usual limit of 1,024 is for programs that use
  /// `select`.
  static func allowMost() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// The present limit; nil: there is none, or the system does not say.
  private static var limit: Int? {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != .max else {
      return nil
    }
    return Int(clamping: limit.rlim_cur)
  }

  /// The number of connections to allow of those wanted, so that clients cannot use up the descriptors that media
  /// needs. Call it after `allowMost`. A hub's connections begin as the server's, so both share the same descriptors.
  /// - Parameter relays: the descriptors that relayed addresses may need.
  static func share(of wanted: Int, relays: Int = 0) -> Int {
    limit.map { share(of: wanted, limit: $0 - relays) } ?? wanted
  }

  /// The number of relayed addresses to allow of those wanted, which take a quarter of the descriptors: two for a client
  /// with both versions of IP. Call it after `allowMost`.
  static func relays(of wanted: Int) -> Int {
    limit.map { relays(of: wanted, limit: $0) } ?? wanted
  }

  package static func relays(of wanted: Int, limit: Int) -> Int {
    min(wanted, max(leastRelays, (limit - reserve) / 8))
  }

  package static func share(of wanted: Int, limit: Int) -> Int {
    min(wanted, max(leastConnections, (limit - reserve) / 2))
  }
}
