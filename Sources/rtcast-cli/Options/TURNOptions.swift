import ArgumentParser
import Glibc
import RTCPrimitives
package import RTCSignaling

/// The hub's own TURN server, and others that share a secret with it.
package struct TURNOptions: ParsableArguments {
  package init() {}

  @OptionGroup var own: OwnTURNOptions

  @Option(
    name: .customLong("turn-url"),
    help: ArgumentHelp(
      "TURN server that shares a secret with this hub (coturn's use-auth-secret), such as turn:turn.example or "
        + "turns:turn.example:443; each client gets credentials of its own that expire. May be given several times.",
      valueName: "uri"),
    transform: { try Self.url($0) })
  var urls: [ICEServerURL] = []

  @Option(
    name: .customLong("turn-secret"),
    help: ArgumentHelp(
      "Secret of the TURN server (coturn's static-auth-secret). Other users of this machine can read it here; use "
        + "--turn-secret-file or RTCAST_TURN_SECRET instead. (default: $RTCAST_TURN_SECRET)",
      valueName: "secret"),
    transform: { try Secret($0, from: "--turn-secret") })
  var secret: Secret?

  @Option(
    name: .customLong("turn-secret-file"),
    help: ArgumentHelp("Read the secret from the first line of this file.", valueName: "path"))
  var secretFile: String?

  @Option(
    name: .customLong("turn-lifetime"),
    help: ArgumentHelp(
      "Lifetime of the credentials: 30m, 12h, 1d. Clients get new ones after half of it. (default: 12h)",
      valueName: "time"),
    transform: { try Self.lifetime($0) })
  var lifetime: TimeDelta?

  package func validate() throws {
    if secret != nil, secretFile != nil {
      throw ValidationError("--turn-secret and --turn-secret-file cannot be combined; give one of them.")
    }
    if urls.isEmpty, !own.isOn, secret != nil || secretFile != nil || lifetime != nil {
      throw ValidationError(
        "--turn-secret and --turn-lifetime need --turn-url, the address of the TURN server, or --turn, the hub's own.")
    }
  }

  /// The secret that TURN servers share with the hub; nil: no such server was named. The hub's own server alone gets a new one at
  /// each start if none is given.
  /// - Parameter environment: the value of `RTCAST_TURN_SECRET`.
  func sharedSecret(
    environment: String? = getenv("RTCAST_TURN_SECRET").map { String(cString: $0) }
  ) throws(CastFailure) -> Secret? {
    guard !urls.isEmpty || own.isOn else { return nil }
    if let secret { return secret }
    if let secretFile { return try Secret(file: secretFile, what: "file of the TURN secret") }
    if let environment, !environment.isEmpty { return try Secret.checked(environment, from: "RTCAST_TURN_SECRET") }
    guard urls.isEmpty else {
      throw CastFailure(
        .usage,
        "--turn-url needs the secret that the TURN server has: give --turn-secret-file, or set RTCAST_TURN_SECRET.")
    }
    let digits = (0..<16).map { _ in String(UInt8.random(in: 16...255), radix: 16) }
    return try Secret.checked(digits.joined(), from: "The TURN secret")
  }

  /// The servers for clients, with the hub's own first; nil: there are none.
  /// - Parameters:
  ///   - secret: from `sharedSecret`.
  ///   - ownURLs: the ways to the hub's own server.
  func service(_ secret: Secret?, ownURLs: [ICEServerURL]) -> TURNService? {
    guard let secret, !urls.isEmpty || !ownURLs.isEmpty else { return nil }
    return TURNService(
      urls: ownURLs + urls, secret: secret.text, lifetime: lifetime ?? TURNService.usualLifetime)
  }

  /// The servers of `--turn-url`; nil: none was named.
  /// - Parameter environment: the value of `RTCAST_TURN_SECRET`.
  package func service(environment: String?) throws(CastFailure) -> TURNService? {
    service(try sharedSecret(environment: environment), ownURLs: [])
  }

  private static func url(_ text: String) throws -> ICEServerURL {
    let url: ICEServerURL
    do throws(ICEServerError) { url = try ICEServerURL(parsing: text) } catch {
      throw ValidationError("--turn-url takes turn:HOST or turns:HOST. \(error)")
    }
    guard url.scheme.isRelay else {
      throw ValidationError("--turn-url takes turn:HOST or turns:HOST; STUN servers go to --ice-server.")
    }
    return url
  }

  /// 5 minutes to 30 days: shorter ones end before a call is set up, longer ones are passwords.
  private static func lifetime(_ text: String) throws -> TimeDelta {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
    let unit = text.last.flatMap { units[$0] }
    guard let value = Int64(unit == nil ? text[...] : text.dropLast()), value > 0, value <= 1 << 32,
      case let seconds = value * (unit ?? 1), (300...2_592_000).contains(seconds)
    else { throw ValidationError("--turn-lifetime takes 5m to 30d, such as 12h, not '\(text)'.") }
    return .seconds(seconds)
  }
}
