import RTCSignaling

/// The secret that `rtcast serve` makes at its first start and keeps.
enum KeptSecret {
  /// The path of the file; nil: there is no folder for it.
  static var path: String? { StateFolder.path.map { $0 + "/serve-token" } }

  /// The stored secret, or a new one.
  static func make() throws(CastFailure) -> AccessToken {
    let path = try StateFolder.make() + "/serve-token"
    if WholeFile.exists(path) { return try Secret(file: path, what: "token file").checkedForServing() }
    let token = AccessToken.fresh()
    try WholeFile.writeSecretly(Array((token.text + "\n").utf8), to: path)
    return token
  }

  /// The stored secret.
  static func find() throws(CastFailure) -> Secret? {
    guard let path, WholeFile.exists(path) else { return nil }
    return try Secret(file: path, what: "token file")
  }

  // MARK: - Where the hub is

  private static var addressPath: String? { StateFolder.path.map { $0 + "/serve-address" } }

  /// Keeps the addresses of the hub that has the kept secret, for `rtcast link`: one in a line, the best one first.
  static func note(addresses: [String]) {
    guard let addressPath else { return }
    try? WholeFile.writeSecretly(Array(addresses.map { $0 + "\n" }.joined().utf8), to: addressPath)
  }

  /// The addresses of that hub, the best one first; none before it has run.
  static var addresses: [String] {
    guard let addressPath, WholeFile.exists(addressPath),
      let bytes = try? WholeFile.read(addressPath, limit: 65_536, what: "The hub's address")
    else { return [] }
    return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the kept secret belongs to the server at this address. All loopback names of this machine are equal.
  static func isSecret(of server: WebAddress) -> Bool {
    addresses.contains { text in
      guard let hub = WebAddress(text), hub.effectivePort == server.effectivePort else { return false }
      return hub.host == server.host || (hub.host.isLoopback && server.host.isLoopback)
    }
  }
}

extension WebAddress {
  /// The port as written, or the scheme's own.
  fileprivate var effectivePort: UInt16 { port ?? (scheme == .https ? 443 : 80) }
}
