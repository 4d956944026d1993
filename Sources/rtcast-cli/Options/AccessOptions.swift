import ArgumentParser
import Logging
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// The access control of a server, its names, and the sites that may embed its pages; for casts and the hub.
struct AccessOptions: ParsableArguments {
  @Flag(
    name: .customLong("open"),
    help: "Let in everybody who can reach this server, without a secret.")
  var isOpen = false

  @Flag(help: "Use HTTPS with a self-signed certificate, kept in ~/.local/state/rtcast; browsers will warn about it.")
  var tls = false

  @Option(help: ArgumentHelp("Use HTTPS with this certificate or chain, in PEM.", valueName: "path"))
  var tlsCert: String?

  @Option(help: ArgumentHelp("Private key of the certificate, in PEM.", valueName: "path"))
  var tlsKey: String?

  @Option(
    help: ArgumentHelp(
      "DNS name of this server, such as that of a proxy in front of it. An open server, and one that listens on "
        + "127.0.0.1, refuses requests to other names than this machine's. May be given several times.",
      valueName: "name"))
  var hostName: [String] = []

  @Option(
    name: .customLong("public-url"),
    help: ArgumentHelp(
      "Address of the page behind a proxy, such as https://lab.example/cast/: for printed links and QR codes. Its host is "
        + "a --host-name, and its path the --base-path.", valueName: "url"),
    transform: { text in
      do throws(PublicAddressError) { return try PublicAddress(parsing: text) } catch {
        throw ValidationError("--public-url: \(error)")
      }
    })
  var publicAddress: PublicAddress?

  @Option(
    help: ArgumentHelp(
      "Path that a proxy passes on with each request, such as /cast. Requests without it are taken as well. (default: the "
        + "path of --public-url)", valueName: "path"),
    transform: { text in
      guard let path = BasePath(text) else {
        throw ValidationError("--base-path takes a path such as /cast, not '\(text)'.")
      }
      return path
    })
  var basePath: BasePath?

  @Option(
    help: ArgumentHelp(
      "Permissions of the socket of --listen unix:PATH, as an octal number: 0660 for the user and group of this program, "
        + "0666 for all users of this machine. (default: 0660)", valueName: "mode"),
    transform: { text in
      guard let mode = UInt32(text, radix: 8), mode <= 0o777 else {
        throw ValidationError("--listen-mode takes permissions such as 0660, not '\(text)'.")
      }
      return mode
    })
  var listenMode: UInt32?

  @Option(
    help: ArgumentHelp(
      "Web site whose pages may show those of this server in a frame, such as https://intranet.example, or * for all; may "
        + "be given several times. (default: none)", valueName: "origin"),
    transform: { try Self.site($0, option: "--frame-ancestors") })
  var frameAncestors: [String] = []

  @Option(
    help: ArgumentHelp(
      "Proxy in front of this server, such as 127.0.0.1 or 10.0.0.0/8: requests from it count for the client that it names "
        + "in Forwarded, X-Forwarded-For or the PROXY protocol; may be given several times. (default: none)",
      valueName: "address[/bits]"),
    transform: { text in
      guard let prefix = AddressPrefix(text) else {
        throw ValidationError("--trusted-proxy takes an IP address such as 127.0.0.1 or 10.0.0.0/8, not '\(text)'.")
      }
      return prefix
    })
  var trustedProxy: [AddressPrefix] = []

  @Option(
    help: ArgumentHelp(
      "Append a line of JSON to this file for each admission, with the link and address, and for each refusal and "
        + "revocation.", valueName: "path"))
  var audit: String?

  func validate() throws {
    if (tlsCert == nil) != (tlsKey == nil) {
      throw ValidationError("--tls-cert and --tls-key go together; give both, or --tls for a certificate made here.")
    }
    if tls, tlsCert != nil {
      throw ValidationError("--tls makes a certificate and --tls-cert names one; give one of them.")
    }
  }

  /// - Parameter listen: the address of `--listen`.
  func check(listen: ListenAddress?) throws {
    guard listenMode != nil, listen?.socketPath == nil else { return }
    throw ValidationError("--listen-mode is for --listen unix:PATH.")
  }

  /// The Unix socket to listen at; nil for TCP.
  func socket(at listen: ListenAddress) throws(CastFailure) -> ListeningSocket? {
    guard let path = listen.socketPath else { return nil }
    return try ListeningSocket(at: path, mode: listenMode ?? 0o660)
  }

  /// Sets the names, sites and proxies of a server.
  func configure(_ server: inout SignalingServerConfiguration) {
    server.frameAncestors = frameAncestors
    server.trustedProxies = trustedProxy
    server.publicAddress = publicAddress
    server.basePath = basePath
  }

  func check(_ token: TokenOptions) throws {
    guard isOpen, token.isGiven else { return }
    throw ValidationError("--open lets everybody in and --token asks for a secret; give one of them.")
  }

  /// Something was said.
  var isGiven: Bool {
    isOpen || tls || tlsCert != nil || !hostName.isEmpty || !frameAncestors.isEmpty || !trustedProxy.isEmpty
      || audit != nil || publicAddress != nil || basePath != nil || listenMode != nil
  }

  /// The file of `--audit`, if it was asked for.
  func auditFile(_ logger: Logger) throws(CastFailure) -> AuditFile? {
    guard let audit else { return nil }
    return try AuditFile(audit, logger)
  }

  /// The server's TLS certificate; nil: plain HTTP.
  /// - Parameter addresses: the addresses of this machine, for a new certificate.
  func certificate(addresses: @autoclosure () -> [String]) throws(CastFailure) -> ServeCertificate? {
    if let tlsCert, let tlsKey { return try ServeCertificate(certificate: tlsCert, key: tlsKey) }
    return tls ? try ServeCertificate.kept(addresses: addresses()) : nil
  }

  /// A web site as browsers write it in `Origin`.
  static func site(_ text: String, option: String) throws -> String {
    guard text != "*" else { return text }
    guard let address = WebAddress(text), address.target == "/", !text.hasSuffix("/"),
      !text.contains(where: { ";,'\"".contains($0) })
    else {
      throw ValidationError("\(option) takes a site such as https://app.example, without a path, or *.")
    }
    return text.lowercased()
  }
}
