import Logging
import RTCSignaling

/// The access control of a server, from options, files and the environment.
struct ServedAccess {
  let gate: AccessGate
  /// The secret was made here and is kept; `rtcast link` finds it.
  let isKept: Bool

  /// For a cast: a new secret is made unless one is given.
  static func ofCast(_ given: Secret?, _ options: AccessOptions, _ logger: Logger) throws(CastFailure) -> ServedAccess {
    if options.isOpen { return ServedAccess(gate: .open(), isKept: false) }
    guard let given else { return ServedAccess(gate: .fresh(), isKept: false) }
    return ServedAccess(gate: try gate(given.checkedForServing(), [:], logger), isKept: false)
  }

  /// For the hub: beyond loopback, behind a proxy with a public address, and if names have tokens of their own, a secret is
  /// made and kept unless one is given.
  static func ofHub(
    _ given: Secret?, tokens: [String: AccessToken], _ listen: ListenAddress, _ options: AccessOptions, _ logger: Logger
  ) throws(CastFailure) -> ServedAccess {
    // Said on the command line, it goes before a token of the environment.
    if options.isOpen { return ServedAccess(gate: .open(), isKept: false) }
    if let given { return ServedAccess(gate: try gate(given.checkedForServing(), tokens, logger), isKept: false) }
    if listen.host.isLoopback, tokens.isEmpty, options.publicAddress == nil {
      return ServedAccess(gate: .open(), isKept: false)
    }
    return ServedAccess(gate: try gate(KeptSecret.make(), tokens, logger), isKept: true)
  }

  /// Takes over what files say now. Sessions that were admitted go on.
  func adopt(_ other: ServedAccess) throws(CastFailure) {
    guard gate.isOpen == other.gate.isOpen else {
      throw CastFailure(
        .usage, "A server that asks for a secret does not become open while it runs; start it again for that.")
    }
    gate.adopt(other.gate)
  }

  private static func gate(
    _ secret: AccessToken, _ tokens: [String: AccessToken], _ logger: Logger
  ) throws(CastFailure) -> AccessGate {
    if secret.text.utf8.count < 16 {
      logger.warning(
        "The token is short enough to be guessed in time; make one with: head -c 15 /dev/urandom | base32, or give none."
      )
    }
    guard let file = LinkLedgerFile(of: secret, logger) else { return AccessGate(secret: secret, perPeer: tokens) }
    return AccessGate(secret: secret, perPeer: tokens, ledger: try file.read(), keep: { file.write($0) })
  }
}
