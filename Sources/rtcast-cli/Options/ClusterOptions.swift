import ArgumentParser
import Logging
import RTCCluster
import RTCSignaling

/// Several hubs that share names, rooms, links and streams.
struct ClusterOptions: ParsableArguments {
  @Option(
    name: .customLong("cluster"),
    help: ArgumentHelp(
      "Share names, rooms, streams, and used and revoked links with the other hubs that use this Redis or Valkey server: redis://[user@]host[:port][/database], "
        + "or rediss:// for TLS; or redis+sentinel://host[:port],…/name for the sentinels that know it. Give the password with --cluster-password-file, as other users of this machine can read "
        + "it here. (default: this hub stands alone)", valueName: "url"),
    transform: { text in
      do throws(RedisAddress.Problem) { return try RedisAddress(parsing: text) } catch {
        throw ValidationError(
          "--cluster takes an address such as redis://redis.example:6379, or rediss:// for TLS; \(error.text).")
      }
    })
  var address: RedisAddress?

  @Option(
    name: .customLong("cluster-password-file"),
    help: ArgumentHelp("Read the password for Redis from the first line of this file.", valueName: "path"))
  var passwordFile: String?

  @Option(
    name: .customLong("cluster-name"),
    help: ArgumentHelp(
      "Name of the group of hubs in Redis: hubs with different names share nothing. (default: rtcast)",
      valueName: "name"),
    transform: { text in
      guard (1...64).contains(text.utf8.count),
        text.utf8.allSatisfy({ byte in
          (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte == 45 || byte == 95
        })
      else {
        throw ValidationError("--cluster-name takes 1 to 64 letters, digits, - and _, not '\(text.prefix(80))'.")
      }
      return text
    })
  var name: String?

  @Option(
    name: .customLong("cluster-address"),
    help: ArgumentHelp(
      "URL at which viewers reach this hub and no other one: other hubs send them there if they ask for a stream of this "
        + "hub. (default: that of --public-url, or the first address that is printed)", valueName: "url"),
    transform: { text in
      do throws(PublicAddressError) { return try PublicAddress(parsing: text) } catch {
        throw ValidationError("--cluster-address: \(error)")
      }
    })
  var ownAddress: PublicAddress?

  func validate() throws {
    guard address != nil || (passwordFile == nil && name == nil && ownAddress == nil) else {
      throw ValidationError(
        "--cluster-password-file, --cluster-name and --cluster-address need --cluster, the address of the Redis server."
      )
    }
    guard address?.password == nil || passwordFile == nil else {
      throw ValidationError("--cluster has a password, and --cluster-password-file names another; give one of them.")
    }
  }

  /// Connects to Redis; nil: the hub stands alone.
  func start(_ logger: Logger) async throws(CastFailure) -> ClusterPresence? {
    guard var address else { return nil }
    if let passwordFile { address.password = try Secret(file: passwordFile, what: "password file").text }
    var options = ClusterPresence.Options(address)
    if let name { options.prefix = name }
    options.onNotice = { logger.warning("\($0)") }
    do throws(RedisFailure) { return try await ClusterPresence.start(options) } catch {
      switch error.cause {
      case .wrongPassword, .passwordNeeded, .notPermitted: throw CastFailure(.notPermitted, error.sentence(address))
      case .notRedis, .notSentinel, .tooOld: throw CastFailure(.protocolError, error.sentence(address))
      default: throw CastFailure(.unavailable, error.sentence(address))
      }
    }
  }
}
