/// The reason why there is no connection to Redis.
package enum RedisFailure: Error, Hashable, Sendable {
  case unknownHost
  case refusedConnection
  case unreachable(String)
  /// No connection, or no reply, in time.
  case timeout
  case tls(String)
  /// Redis speaks TLS on this port, or not.
  case notRedis
  /// The connection was closed before it was ready, or afterwards.
  case closed, ended
  /// The user name or password is wrong.
  case wrongPassword
  case passwordNeeded
  /// The user may not do what a hub needs.
  case notPermitted(String)
  /// The server is a replica, which takes no changes.
  case readOnly
  /// The server is older than Redis 6.
  case tooOld
  /// The server is a node of a Redis Cluster that does not have the keys: the place of the node that has them.
  case otherNode(String)
  /// No sentinel names the primary: the one that was asked first, and its failure.
  indirect case sentinel(RedisAddress.Place, RedisFailure)
  /// The primary that the sentinels have named has failed.
  indirect case primary(RedisAddress.Place, RedisFailure)
  /// A server in the place of a sentinel.
  case notSentinel
  /// The sentinels know no primary of that name.
  case unknownPrimary(String)
  /// The hubs that use the server keep what they share in this format.
  case otherFormat(String)
  /// The node of a Redis Cluster gives the keys to another node at this moment.
  case moving
  /// The server has just started.
  case loading
  case refused(String)

  /// The failure that an error reply of Redis shows.
  init(reply text: String) {
    let code = text.prefix { $0 != " " }
    switch code {
    case "WRONGPASS": self = .wrongPassword
    case "NOAUTH": self = .passwordNeeded
    case "NOPERM": self = .notPermitted(Self.oneLine(text))
    case "NOPROTO": self = .tooOld
    case "LOADING", "BUSY": self = .loading
    // A script must not run at the other node before all keys are there.
    case "ASK", "TRYAGAIN": self = .moving
    case "MOVED": self = .otherNode(String(text.split(separator: " ").last ?? ""))
    default:
      if text.contains("READONLY") {
        self = .readOnly
      } else if text.contains("unknown command") {
        self = .tooOld
      } else if text.contains("HELLO must be called with the client already authenticated") {
        self = .passwordNeeded
      } else if text.contains("without any password configured") {
        self = .wrongPassword
      } else {
        self = .refused(Self.oneLine(text))
      }
    }
  }

  init(_ fault: ClusterFault) {
    switch fault {
    case .silent: self = .timeout
    case .refused(let text): self.init(reply: text)
    case .otherFormat(let format): self = .otherFormat(Self.oneLine(format))
    case .unreadable: self = .notRedis
    }
  }

  private static func oneLine(_ text: String) -> String {
    String(text.prefix(200).map { $0.isNewline ? " " : $0 })
  }

  /// A sentence for the operator: the failure, and the next step.
  package func sentence(_ address: RedisAddress) -> String {
    if case .sentinel(let place, let failure) = self {
      return failure.sentence(address.at(place), of: "The sentinel")
        + ((address.sentinels?.places.count ?? 0) > 1 ? " No other sentinel names the primary either." : "")
    }
    if case .primary(let place, let failure) = self { return failure.sentence(address.at(place), of: "Redis") }
    return sentence(address, of: "Redis")
  }

  /// The failure of a primary that sentinels have named.
  func found(at place: RedisAddress.Place) -> RedisFailure {
    if case .sentinel = self { self } else { .primary(place, self) }
  }

  /// The failure without the place at which it was met.
  package var cause: RedisFailure {
    switch self {
    case .sentinel(_, let failure), .primary(_, let failure): failure
    default: self
    }
  }

  private func sentence(_ address: RedisAddress, of server: String) -> String {
    let place = "\(server) at \(address.place)"
    return switch self {
    case .unknownHost: "There is no host named \(address.place.host.text). Check the address of --cluster."
    case .refusedConnection:
      "\(place) refuses connections. Start it, or check the address of --cluster and the setting 'bind' of Redis."
    case .unreachable(let reason):
      "\(place) cannot be reached (\(reason)). Check the address of --cluster and the network."
    case .timeout:
      "\(place) does not answer. Check the address of --cluster, and whether a firewall is in between."
        + (address.isSecure ? " If Redis speaks no TLS on this port, write redis:// in --cluster." : "")
    case .tls(let reason): "TLS with \(place) fails: \(reason)."
    case .notRedis:
      "The program at \(address.place) does not speak the protocol of Redis. Check the port of --cluster"
        + (address.isSecure ? "." : ", and write rediss:// if Redis expects TLS there.")
    case .closed:
      "\(place) closed the connection"
        + (address.isSecure ? "." : ". If it expects TLS on this port, write rediss:// in --cluster.")
    case .ended: "\(place) ended the connection."
    case .wrongPassword:
      "\(place) rejects the user name or password. Check the user in --cluster and the file of --cluster-password-file."
    case .passwordNeeded: "\(place) requires a password. Give it with --cluster-password-file."
    case .notPermitted(let reason):
      "The user of \(place) lacks a permission (\(reason)). docs/cluster.md has the rule (ACL SETUSER) that a hub needs."
    case .readOnly where address.sentinels != nil:
      "\(place) is a replica now. The hub asks the sentinels for the primary again."
    case .readOnly: "\(place) is a read-only replica. Name the primary in --cluster."
    case .tooOld: "\(place) is older than version 6. Hubs need Redis 6.2 or later, or Valkey."
    case .otherNode(let node):
      "\(place) is a node of a Redis Cluster that does not hold the keys of the hubs, nor do the nodes that it names (\(node)). See 'redis-cli --cluster check'."
    case .notSentinel:
      "The program at \(address.place) is not a sentinel. Write redis:// in --cluster for the address of Redis itself."
    case .unknownPrimary(let name):
      "\(place) knows no primary named \(Self.oneLine(name)). Write the name of 'sentinel monitor' in --cluster."
    case .sentinel(_, let failure), .primary(_, let failure): failure.sentence(address, of: server)
    case .otherFormat(let format):
      "The other hubs at \(place) use the format \(format) of the cluster, and this hub uses the format "
        + "\(ClusterScript.format). Hubs of one cluster need versions of rtcast with one format: stop all hubs and start "
        + "them with the same version, or give this hub another --cluster-name."
    case .moving: "\(place) is moving the keys of the hubs to another node. The hub tries again by itself."
    case .loading: "\(place) has just started and is loading its data. The hub tries again by itself."
    case .refused(let text): "\(place) answers with an error: \(text). See the log of Redis."
    }
  }
}
