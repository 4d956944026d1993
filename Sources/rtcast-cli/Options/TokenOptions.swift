package import ArgumentParser
import Glibc
package import RTCSignaling

/// The secret of a server, ours or another's.
package struct TokenOptions: ParsableArguments {
  package init() {}

  @Option(
    help: ArgumentHelp(
      "Access token: the secret that clients of this server must give, or the one to give to a server. Other users "
        + "of this machine can read it here; use --token-file, RTCAST_TOKEN or a preset instead. (default: the "
        + "link's, else the preset's, else $RTCAST_TOKEN; as a server, a new one)",
      valueName: "secret"),
    transform: { try Secret($0, from: "--token") })
  var token: Secret?

  @Option(
    name: .customLong("token-file"),
    help: ArgumentHelp("Read the access token from the first line of this file.", valueName: "path"))
  var tokenFile: String?

  package func validate() throws {
    if token != nil, tokenFile != nil {
      throw ValidationError("--token and --token-file cannot be combined; give one of them.")
    }
  }

  /// A token is named on the command line.
  var isGiven: Bool { token != nil || tokenFile != nil }

  /// The token: of the option, else of the link, else of the preset, else of the environment, else of a configuration
  /// file; nil: none.
  /// - Parameters:
  ///   - link: the token of the opened link.
  ///   - preset: the preset's token.
  ///   - configured: the token of the configuration files. It is for servers of this machine: others must not be told of it.
  package func secret(
    link: String? = nil, preset: String? = nil,
    environment: String? = getenv("RTCAST_TOKEN").map { String(cString: $0) }, configured: String? = nil
  ) throws(CastFailure) -> Secret? {
    if let token { return token }
    if let tokenFile { return try Secret(file: tokenFile, what: "token file") }
    if let link { return try Secret.checked(link, from: "The link's token") }
    if let preset { return try Secret.checked(preset, from: "The preset's token") }
    if let environment, !environment.isEmpty { return try Secret.checked(environment, from: "RTCAST_TOKEN") }
    return try configured.map { token throws(CastFailure) in
      try Secret.checked(token, from: "The token of the configuration")
    }
  }
}

/// A token as typed, and as the server compares it.
package struct Secret: Hashable, Sendable {
  package let text: String
  package let token: AccessToken

  /// - Parameter origin: how a sentence about it begins.
  package init(_ text: String, from origin: String) throws(ValidationError) {
    guard let token = AccessToken(text) else {
      throw ValidationError("\(origin) must be 1 to 1024 visible ASCII characters without blanks.")
    }
    self.text = text
    self.token = token
  }

  /// The minimum length of this server's secret; a shorter one can be guessed. Tokens of other servers may be shorter.
  package static let shortest = 6

  /// The secret of a server of ours.
  func checkedForServing() throws(CastFailure) -> AccessToken {
    guard text.utf8.count >= Self.shortest else {
      throw CastFailure(
        .usage,
        "The token has \(text.utf8.count) characters, which is easy to guess. Give \(Self.shortest) or more, or "
          + "give none: then rtcast makes one.")
    }
    return token
  }

  static func checked(_ text: String, from origin: String) throws(CastFailure) -> Secret {
    do throws(ValidationError) { return try Secret(text, from: origin) } catch {
      throw CastFailure(.usage, error.message)
    }
  }

  /// The first line of a file, without the blanks around it.
  /// - Parameter what: what sentences call the file.
  init(file path: String, what: String) throws(CastFailure) {
    let bytes = try WholeFile.readSecret(path, limit: 64 * 1_024, what: "The \(what)")
    let blanks: [UInt8] = [UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r")]
    var line = bytes.prefix { $0 != UInt8(ascii: "\n") }.drop { blanks.contains($0) }
    while let last = line.last, blanks.contains(last) { line.removeLast() }
    self = try Self.checked(String(decoding: line, as: UTF8.self), from: "The first line of the \(what) \(path)")
  }
}
