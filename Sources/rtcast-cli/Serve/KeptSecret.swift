import RTCSignaling

/// The secret that `rtcast serve` makes at its first start and keeps.
enum KeptSecret {
  /// Where it is; nil: nowhere.
  static var path: String? { StateFolder.path.map { $0 + "/serve-token" } }

  /// The one that is there, or a new one.
  static func make() throws(CastFailure) -> AccessToken {
    let path = try StateFolder.make() + "/serve-token"
    if WholeFile.exists(path) { return try Secret(file: path, what: "token file").checkedForServing() }
    let token = AccessToken.fresh()
    try WholeFile.writeSecretly(Array((token.text + "\n").utf8), to: path)
    return token
  }

  /// The one that is there.
  static func find() throws(CastFailure) -> Secret? {
    guard let path, WholeFile.exists(path) else { return nil }
    return try Secret(file: path, what: "token file")
  }

  // MARK: - Where the hub is

  private static var addressPath: String? { StateFolder.path.map { $0 + "/serve-address" } }

  /// Keeps the address of the hub that has the kept secret, for `rtcast link`.
  static func note(address: String) {
    guard let addressPath else { return }
    try? WholeFile.writeSecretly(Array((address + "\n").utf8), to: addressPath)
  }

  static var address: String? {
    guard let addressPath, WholeFile.exists(addressPath),
      let bytes = try? WholeFile.read(addressPath, limit: 4_096, what: "The hub's address")
    else { return nil }
    return String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
  }
}
