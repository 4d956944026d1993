public import ArgumentParser
import Glibc
public import RTCSignaling

struct LinkCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "link",
    abstract: "Make a link that allows one thing at a cast or hub of yours, and ends.",
    discussion: """
      The link is signed with the secret of the cast or hub, which recognises it by the signature. The server need not \
      run when you make the link. The secret is taken from --token-file or --token, else from the link given, else from \
      RTCAST_TOKEN; for the hub of this machine, it is the one that `rtcast serve` keeps. If you give no address, the \
      link leads to that hub.

      If the address of this machine's hub has a DNS name, start the hub with --host-name NAME; otherwise the secret must \
      be given.

      To revoke a link, use the command "revoke" of --control (docs/control.md): viewers and callers that used the link \
      are disconnected.

      Examples:
        rtcast link --role call --expires 2h
            for calls at the hub of this machine, for two hours
        rtcast link --role watch --expires 1h --uses 1 - < link.txt
            for one viewer of the cast whose link is in the file
        rtcast link https://hub.example --token-file token --role publish --name talk
            to publish the stream "talk"
        rtcast link https://hub.example --token-file token --role watch --stream talk --expires 7d
            to watch it, for a week
        rtcast link https://hub.example --token-file token --role metrics --expires never
            for a program that collects figures

      Exit status: 0; 64 wrong usage; 66 no such file; 77 not permitted to read it.
      """)

  @Argument(
    help: ArgumentHelp(
      "The link that the cast or hub prints, or its address; - reads it from standard input. (default: the hub that runs "
        + "on this machine)", valueName: "link"))
  var address: String?

  @Option(
    help: ArgumentHelp(
      "What the link allows: watch (see a cast or stream), publish (send a stream to a hub), call (take a name at a "
        + "hub, and call), metrics (read a server's figures).", valueName: "role"))
  var role: AccessRight

  @Option(
    help: ArgumentHelp(
      "Lifetime of the link: 90s, 30m, 2h, 7d, or never. Its users are disconnected at its end. (default: 24h)",
      valueName: "time"),
    transform: { try LinkLifetime(parsing: $0) })
  var expires: LinkLifetime = .usual

  @Option(
    help: ArgumentHelp(
      "Number of people who may use the link. A person who returns is not counted again. (default: any number)",
      valueName: "n"),
    transform: { try Self.uses($0) })
  var uses: Int?

  @Option(
    help: ArgumentHelp(
      "With the role call, the only name that may be taken at the hub; with publish, the stream's name.",
      valueName: "name"),
    transform: { try Self.name($0, option: "--name") })
  var name: String?

  @Option(
    help: ArgumentHelp("The one stream of a hub to watch or publish.", valueName: "name"),
    transform: { try Self.name($0, option: "--stream") })
  var stream: String?

  @OptionGroup var token: TokenOptions

  @Flag(name: .customLong("no-qr"), help: "Print no QR code of the link.")
  var hidesQRCode = false

  @Flag(help: "Print one JSON object on standard output, and nothing else; docs/json.md describes it.")
  var json = false

  @OptionGroup var sandbox: SandboxOptions

  func validate() throws {
    if stream != nil, role == .call || role == .metrics {
      throw ValidationError("--stream is for the roles watch and publish.")
    }
  }

  func run() async throws {
    do throws(CastFailure) { try make() } catch {
      if json { OutputEvent.failed(error).print() }
      Terminal.complain(error.sentence)
      throw error.status.code
    }
  }

  private func make() throws(CastFailure) {
    let (base, secret) = try server()
    let issued = Int64(time(nil))
    let stream = stream ?? (role == .publish ? name : nil)
    let link = SignedLink(
      role, issued: issued, expires: expires.seconds.map { issued + $0 }, uses: uses, name: name, stream: stream)
    let text = link.signed(with: secret.token)
    guard text.utf8.count <= 1_024, let url = base.resolving(path(stream)) else {
      throw CastFailure(.usage, "The names are too long for a link.")
    }
    show(link, token: text, url: "\(url)#token=\(text)")
  }

  /// The server's address, and the secret to sign with.
  private func server() throws(CastFailure) -> (WebAddress, Secret) {
    var written = address
    if address == "-" { written = readLine(strippingNewline: true) ?? "" }
    let kept = written == nil ? KeptSecret.addresses.first : nil
    guard let text = written ?? kept else {
      throw CastFailure(
        .usage,
        "No hub has run on this machine yet. Give the link that the cast or hub prints, or its address.")
    }
    let (plain, fragment) = LinkFragment.split(text)
    guard let base = WebAddress(plain) else {
      throw CastFailure(.usage, "\"\(plain)\" is not a link to a cast or hub; it must look like https://host:8080/.")
    }
    var found = try token.secret(link: fragment.token)
    // The kept secret belongs to this machine's hub; no other server accepts links signed with it.
    if found == nil, KeptSecret.isSecret(of: base) { found = try KeptSecret.find() }
    guard let secret = found else {
      let kept = KeptSecret.addresses.first.map {
        " The secret kept on this machine is that of the hub at \($0). If both are the same hub, start it with "
          + "--host-name \(base.host.text)."
      }
      throw CastFailure(
        .usage,
        "The secret of \(base) is needed to sign a link: give the whole link that it prints, or --token-file."
          + (kept ?? ""))
    }
    guard SignedLink.id(of: secret.text) == nil else {
      throw CastFailure(
        .notPermitted,
        "That link was made by `rtcast link` and cannot sign others; give the link that the cast or hub printed.")
    }
    return (base, secret)
  }

  /// Seen from the server's front page.
  private func path(_ stream: String?) -> String {
    let name = stream.map { LinkFragment.encoded($0) }
    return switch role {
    case .watch: "watch" + (name.map { "?stream=\($0)" } ?? "")
    case .publish: "whip" + (name.map { "/\($0)" } ?? "")
    case .call: "./"
    case .metrics: "metrics"
    }
  }

  private func show(_ link: SignedLink, token: String, url: String) {
    if json {
      return Terminal.print(
        JSONValue.object([
          ("link", .string(url)), ("token", .string(token)), ("id", .string(link.id)), ("role", .string(role.rawValue)),
          ("expires", link.expires.map { .count($0) } ?? .null), ("uses", uses.map { .count($0) } ?? .null),
          ("name", .optional(name)), ("stream", .optional(link.stream)),
        ]).text)
    }
    guard Terminal.isInteractive else { return Terminal.print(url) }
    let ends = expires.seconds == nil ? "It never ends" : "It ends in \(expires.text)"
    let count = uses.map { $0 == 1 ? "for one" : "for \($0)" } ?? "for any number"
    let note = "\(ends), and is \(count). To revoke it: \(link.id)"
    let lack = hidesQRCode ? nil : Terminal.printCode(of: url, above: ["", url, note, ""])
    Terminal.print("\n  ", bold: url, "\n  \(note)\n" + (lack.map { "  \($0)\n" } ?? ""))
  }

  private static func uses(_ text: String) throws -> Int {
    guard let value = Int(text), (1...10_000).contains(value) else {
      throw ValidationError("--uses takes 1 to 10000, not '\(text)'.")
    }
    return value
  }

  private static func name(_ text: String, option: String) throws -> String {
    guard HubName.fits(text), !text.contains(where: { "/?#\\".contains($0) || $0.isNewline }) else {
      throw ValidationError("\(option) takes 1 to 64 characters, and none of / ? # \\.")
    }
    return text
  }
}

extension AccessRight: ExpressibleByArgument {}

/// `--expires`.
struct LinkLifetime: Sendable, Equatable {
  /// Nil: for ever.
  let seconds: Int64?
  /// The lifetime as written.
  let text: String

  static let usual = LinkLifetime(seconds: 86_400, text: "24h")

  private init(seconds: Int64?, text: String) {
    self.seconds = seconds
    self.text = text
  }

  /// A whole number of seconds, minutes, hours, days or weeks, or `never`.
  init(parsing text: String) throws {
    if text == "never" {
      self.init(seconds: nil, text: text)
      return
    }
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    guard let unit = text.last.flatMap({ units[$0] }), let value = Int64(text.dropLast()), value > 0,
      value <= 315_360_000 / unit
    else {
      throw ValidationError(
        "--expires takes how long the link is good, up to ten years, such as 30m, 2h or 7d, or never; not '\(text)'.")
    }
    self.init(seconds: value * unit, text: text)
  }
}
