import RTCNet
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO

/// The addresses of a server of ours, as they are printed.
struct ServerLinks {
  /// For browsers, the best one for another machine first; each with the secret.
  let urls: [String]
  /// For a browser on this machine.
  let url: String
  /// WHEP, for programs on this machine.
  let whep: String
  /// WebSocket of the hub, for programs on this machine; nil: there is none.
  let hub: String?
  /// Nil: the server is open.
  let token: String?
  /// SHA-256 of the certificate; nil: plain HTTP.
  let fingerprint: String?
  /// Whether only this machine can reach it.
  let isLoopback: Bool
  /// Whether a proxy makes the connections.
  private let isSocket: Bool
  private let publicAddress: PublicAddress?

  init(
    _ server: SignalingServer, _ gate: AccessGate, _ access: AccessOptions, certificate: ServeCertificate?,
    outward: @autoclosure () -> [IPAddress], hasHub: Bool
  ) {
    let address = server.address
    publicAddress = access.publicAddress
    isSocket = address.socketPath != nil
    // A Unix socket has no URL of its own.
    let base =
      isSocket
      ? publicAddress?.description ?? address.description
      : server.localAddress.link(token: nil, isSecure: server.isSecure)
    url = isSocket ? publicAddress?.link(token: gate.secret) ?? server.link : server.link
    let hasURL = base.hasSuffix("/")
    whep = hasURL ? base + "whep" : base
    hub = hasHub && hasURL ? "ws" + base.dropFirst(4) + "hub" : nil
    token = gate.secret?.text
    fingerprint = certificate?.fingerprint.digits
    isLoopback = address.host.isLoopback
    if let publicAddress {
      urls = [publicAddress.link(token: gate.secret)]
      return
    }
    guard address.host.isUnspecified else {
      urls = [server.link]
      return
    }
    let outward = outward().filter {
      !$0.isLoopback && !$0.isLinkLocal && ($0.isV4 ? server.takesIPv4 : server.takesIPv6)
    }
    // IPv4 addresses are shorter, and work for guests whose network has no IPv6.
    urls =
      (outward.filter(\.isV4) + outward.filter { !$0.isV4 }).map {
        ListenAddress(host: HostName($0.description), port: address.port)
          .link(token: gate.secret, isSecure: server.isSecure)
      } + [server.link]
  }

  /// The members of the event `listening`.
  var members: [(String, JSONValue)] {
    var members: [(String, JSONValue)] = [
      ("url", .string(url)), ("urls", .array(urls.map { .string($0) })), ("whep", .string(whep)),
    ]
    if let hub { members.append(("hub", .string(hub))) }
    if let token { members.append(("token", .string(token))) }
    if let fingerprint { members.append(("fingerprint", .string(fingerprint))) }
    return members
  }

  /// A warning about plain HTTP; nil: none is needed.
  var exposure: String? {
    if let publicAddress, publicAddress.web.scheme == .https { return nil }
    if isLoopback || isSocket { return nil }
    if fingerprint != nil { return nil }
    return token == nil
      ? "Plain HTTP: anyone who can change this network's traffic can replace the page; --tls prevents that. "
        + "Audio and video are encrypted."
      : "Plain HTTP: anyone who can read this network's traffic can read the secret and connect; --tls prevents that. "
        + "Audio and video are encrypted."
  }

  /// Prints the links for a person at a terminal.
  /// - Parameters:
  ///   - verb: stands before the first link.
  ///   - what: the target of the links, in a sentence.
  ///   - hint: how to stop the program.
  func show(as verb: String, of what: String, qrCode: Bool, hint: String) {
    let notes = [
      isSocket && publicAddress == nil
        ? "Viewers connect by a proxy. With --public-url, the proxy's address is printed here." : nil,
      fingerprint.map { "Certificate (SHA-256) \($0)" }, audience(what), exposure, hint,
    ].compactMap(\.self)
    // The live line comes below.
    var lack: String?
    if qrCode, let first = urls.first {
      lack = Terminal.printCode(of: first, above: [""] + urls.map { "\(verb) \($0)" } + notes + ["", ""])
    }
    Terminal.print("")
    for (index, link) in urls.enumerated() {
      let head = index == 0 ? verb : String(repeating: " ", count: verb.count - 2) + "or"
      Terminal.print("  \(head) ", bold: link)
    }
    for note in notes + [lack].compactMap(\.self) { Terminal.print("  " + note) }
    Terminal.print("")
  }

  /// A sentence that says who can use the server.
  /// - Parameter what: the server's purpose, in a sentence.
  func audience(_ what: String) -> String {
    if token == nil {
      return isLoopback && publicAddress == nil
        ? "Everybody on this machine can use \(what)."
        : "Everybody who can reach this machine can use \(what), because of --open."
    }
    return "Anyone who has the link can use \(what); `rtcast link` makes links that end or allow less."
  }
}
