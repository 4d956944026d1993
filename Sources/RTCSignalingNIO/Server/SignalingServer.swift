import Glibc
public import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import RTCDTLS
public import RTCPrimitives
public import RTCSignaling
import Synchronization

/// The configuration of a signaling server.
public struct SignalingServerConfiguration: Sendable {
  /// The address to listen at; port 0 lets the system choose. The owner makes a Unix socket itself, and passes it in
  /// `inheritedSockets`.
  public var listen: ListenAddress
  /// Descriptors of sockets that listen already, such as those that systemd passes. They take the place of `listen`, which says
  /// their address, and belong to the server from its start on.
  public var inheritedSockets: [Int32] = []
  /// The rule that decides which clients are admitted. By default, these are the clients with the server's `link`,
  /// which carries a secret made for it.
  public var gate: AccessGate
  /// Further names of the server, such as that of a proxy in front of it.
  public var hostNames: [String]
  /// The address of the front page behind a proxy: its host is a name of the server, and its path one under which requests come.
  public var publicAddress: PublicAddress?
  /// The path under which proxies pass requests on, unless it is that of the public address.
  public var basePath: BasePath?
  /// How much clients may have: sizes, counts and time-outs.
  public var limits: ServerLimits
  /// The configuration of its hub; nil: no hub.
  public var hub: HubConfiguration?
  /// The names and rooms of the hub, which it may share with others.
  package var presence: any Presence = LocalPresence()
  /// Receives events of the hub, on the server's thread; must not wait.
  public var whenHubChanges: @Sendable (HubEvent) -> Void = { _ in }
  /// The page for `GET /`; the viewer page is at `/watch` as well.
  public var frontPage = FrontPage.viewer
  /// Certificate and key; nil for plain HTTP.
  public var tls: TLSIdentity?
  /// Receives publications by WHIP; nil: none.
  public var publications: (any OfferSessions)?
  /// The sources that the caster picks from, for the page of `FrontPage.pick`; nil: none.
  public var picker: (any SourcePicker)?
  /// The TURN server of the hub; nil: none.
  public var turn: TURNHost?
  /// Web sites, as `https://host`, whose pages may use this server while it is open; `*` for all.
  public var origins: [String] = []
  /// Web sites, as `https://host`, whose pages may show those of this server in a frame; `*` for all.
  public var frameAncestors: [String] = []
  /// Proxies in front of the server. A request from one of them belongs to the client that the proxy names in
  /// `Forwarded` or `X-Forwarded-For`, or in the PROXY protocol at the beginning of a connection; from other addresses,
  /// these are ignored. Clients of a Unix socket are always proxies, since only programs of this machine
  /// that may use its file can connect.
  public var trustedProxies: [AddressPrefix] = []
  /// Takes each decision about access, on the server's thread; must not wait.
  public var audit: @Sendable (AuditEvent) -> Void = { _ in }

  /// The pages for `GET /`.
  public enum FrontPage: Sendable, Equatable {
    case viewer
    /// A page that connects to the hub.
    case hub([UInt8])
    /// A page on which the caster picks a source.
    case pick([UInt8])
  }

  /// Without arguments: loopback, a port that the system chooses, plain HTTP, a secret made for it, and no hub.
  public init(
    listen: ListenAddress = .loopback, gate: AccessGate = .fresh(), hostNames: [String] = [],
    limits: ServerLimits = ServerLimits(), hub: HubConfiguration? = nil
  ) {
    self.listen = listen
    self.gate = gate
    self.hostNames = hostNames
    self.limits = limits
    self.hub = hub
  }
}

/// An HTTP or HTTPS server with the viewer page at `/`, WHEP at `/whep`, WHIP at `/whip` if configured, and the state
/// of the cast at `/health` and `/metrics`; with a hub also `/hub`, `/peerjs` and `/skyrtc` by WebSocket.
///
/// It runs on one event-loop thread of its own; the sessions are called on the cooperative pool.
public final class SignalingServer: Sendable {
  /// The address of the server, with the port that the system chose.
  public let address: ListenAddress
  /// The address for programs on this machine.
  public let localAddress: ListenAddress
  /// Whether clients reach it by IPv4; by both versions for `[::]`, where the machine has both.
  public let takesIPv4: Bool
  /// Whether clients reach it by IPv6.
  public let takesIPv6: Bool
  /// The link for a viewer on this machine, secret and all.
  public let link: String
  /// Whether it speaks TLS.
  public let isSecure: Bool

  private let gate: AccessGate
  private let group: MultiThreadedEventLoopGroup
  private let listeners: [any Channel]
  private let registry: NIOLoopBound<ConnectionRegistry>
  private let tls: CurrentTLS?
  private let stopping = Mutex<Task<Void, Never>?>(nil)

  /// Starts listening. Call `shutdown()` before the last reference goes.
  public static func start(
    _ configuration: SignalingServerConfiguration, sessions: any WHEPSessions, logger: Logger
  ) async throws(SignalingServerError) -> SignalingServer {
    let tls = try configuration.tls.map { identity throws(SignalingServerError) in CurrentTLS(try identity.context()) }
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let loop = group.next()
    do {
      let registry = try await loop.submit {
        NIOLoopBound(
          ConnectionRegistry(configuration, sessions: sessions, logger: logger, eventLoop: loop), eventLoop: loop)
      }.get()
      let bootstrap = bootstrap(group, registry: registry, limits: configuration.limits, tls: tls)
      let listeners =
        configuration.inheritedSockets.isEmpty
        ? try await Listeners(bootstrap, at: configuration.listen)
        : try await Listeners(bootstrap, inheriting: configuration.inheritedSockets, at: configuration.listen)
      return SignalingServer(configuration, group: group, listeners: listeners, registry: registry, tls: tls)
    } catch {
      try? await group.shutdownGracefully()
      throw startError(error, at: configuration.listen)
    }
  }

  private init(
    _ configuration: SignalingServerConfiguration, group: MultiThreadedEventLoopGroup, listeners: Listeners,
    registry: NIOLoopBound<ConnectionRegistry>, tls: CurrentTLS?
  ) {
    let isUnixSocket = configuration.listen.socketPath != nil
    address =
      isUnixSocket ? configuration.listen : ListenAddress(host: configuration.listen.host, port: listeners.port)
    localAddress = isUnixSocket ? address : ListenAddress(host: listeners.localHost, port: listeners.port)
    (takesIPv4, takesIPv6) = (listeners.takesIPv4, listeners.takesIPv6)
    isSecure = configuration.tls != nil
    link = localAddress.link(token: configuration.gate.secret, isSecure: isSecure)
    gate = configuration.gate
    self.group = group
    self.listeners = listeners.channels
    self.registry = registry
    self.tls = tls
  }

  /// Shows another certificate to clients that connect from now on; connections that are open keep theirs.
  /// - Precondition: The server speaks TLS.
  public func show(_ identity: TLSIdentity) throws(SignalingServerError) {
    guard let tls else { preconditionFailure("A server that was started without TLS shows no certificate.") }
    tls.replace(try identity.context())
  }

  /// Returns when the server's thread has answered: a server that hangs does not.
  public func answer() async { try? await group.next().submit {}.get() }

  /// A signed link lets nobody in any more; those who came by it are told, and their sessions end.
  /// - Parameter link: the link, its token, or its identifier.
  /// - Returns: its identifier.
  @discardableResult
  public func revoke(_ link: String) throws(RevocationError) -> String {
    let id = try gate.revoke(link, now: .now)
    let registry = registry
    group.next().execute { registry.value.endAll(of: id) }
    return id
  }

  /// The figures of the hub; nil when the server has none, or has ended.
  public func hubCounters() async -> HubCounters? {
    let registry = registry
    return try? await group.next().submit { registry.value.hub?.counters }.get()
  }

  /// Takes no more connections, lets running requests end within the grace, then closes what is left. Returns when the
  /// port is free; may be called again and from several tasks.
  public func shutdown() async {
    let task = stopping.withLock { running in
      let task = running ?? Task { await self.stop() }
      running = task
      return task
    }
    await task.value
  }

  private func stop() async {
    for listener in listeners { try? await listener.close() }
    let registry = registry
    let isDrained = try? await group.next().flatSubmit { registry.value.drain() }.get()
    // A cast that never answers may still come back to the loop, which must be there then.
    if isDrained == true { try? await group.shutdownGracefully() }
  }

  private static func bootstrap(
    _ group: MultiThreadedEventLoopGroup, registry: NIOLoopBound<ConnectionRegistry>, limits: ServerLimits,
    tls: CurrentTLS?
  ) -> ServerBootstrap {
    var decoding = NIOHTTPDecoderLimitConfiguration()
    decoding.maxHeaderFieldSize = limits.headBytes
    decoding.maxHeaderListSize = limits.headBytes
    decoding.maxHeaderFieldCount = 100
    let head = decoding
    return ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: 256)
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .serverChannelInitializer { listener in
        listener.eventLoop.makeCompletedFuture {
          try listener.pipeline.syncOperations.addHandler(AcceptPause(logger: registry.value.logger))
        }
      }
      .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let connection = ClientConnection(registry: registry.value)
          let pipeline = channel.pipeline.syncOperations
          let notice = ArrivalNotice(connection)
          if registry.value.isTrustedProxy(channel.clientAddress) {
            try pipeline.addHandler(ProxyHeaderHandler(connection))
          }
          if let tls { try pipeline.addHandler(TLSHandler(TLSSession(tls.context), plainAnswer: plainAnswer)) }
          if let turn = registry.value.turn { try pipeline.addHandler(TURNDetector(turn, connection)) }
          try pipeline.addHandler(notice)
          try pipeline.configureHTTPServerPipeline(
            withPipeliningAssistance: false,
            withServerUpgrade: HubUpgrade.configuration(registry.value, notice, connection),
            withErrorHandling: false, withEncoderConfiguration: .init(),
            withDecoderLimitConfiguration: head)
          try pipeline.addHandler(connection)
        }
      }
  }

  /// The response of a TLS server to a plain-text client (RFC 2817, section 4.2).
  private static let plainAnswer: [UInt8] = {
    let sentence =
      "This server accepts secure connections only: use https:// instead of http://, or wss:// instead of ws://.\n"
    let head = [
      "HTTP/1.1 426 Upgrade Required", "Upgrade: TLS/1.2, HTTP/1.1", "Connection: Upgrade, close",
      "Content-Type: text/plain; charset=utf-8", "Content-Length: \(sentence.utf8.count)", "Cache-Control: no-store",
    ]
    return Array((head + ["", sentence]).joined(separator: "\r\n").utf8)
  }()

  private static func startError(_ error: any Error, at address: ListenAddress) -> SignalingServerError {
    switch error {
    case let error as IOError:
      switch error.errnoCode {
      case EADDRINUSE: .portTaken(address)
      case EACCES, EPERM: .notPermitted(address)
      case EADDRNOTAVAIL: .notThisMachine(address)
      default: .failed(address, reason: error.description)
      }
    case is SocketAddressError, is SocketAddressError.UnknownHost, is NIOConnectionError: .unknownHost(address)
    default: .failed(address, reason: String(describing: error))
    }
  }
}

/// A handler before the HTTP decoder that reports the arrival of bytes, so that the time limit of a request begins with
/// its first byte and not with its head, which a slow client may never finish.
final class ArrivalNotice: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer

  private let connection: ClientConnection

  init(_ connection: ClientConnection) { self.connection = connection }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    connection.bytesArrived()
    context.fireChannelRead(data)
  }
}

/// Why the server could not start.
public enum SignalingServerError: Error, Sendable, Equatable, CustomStringConvertible {
  case portTaken(ListenAddress)
  case notPermitted(ListenAddress)
  /// No interface of this machine has the address.
  case notThisMachine(ListenAddress)
  case unknownHost(ListenAddress)
  case failed(ListenAddress, reason: String)
  /// The certificate or its key cannot be used; half a sentence that says why.
  case badCertificate(String)

  /// A sentence for the user: the failure and, if possible, the remedy.
  public var description: String {
    switch self {
    case .portTaken(let address):
      "Port \(address.port) at \(address.host.text) is taken; choose another, or 0 for any free one."
    case .notPermitted(let address):
      "Listening at \(address) is not permitted; ports below 1024 need privileges, so choose a higher one."
    case .notThisMachine(let address): "No network interface of this machine has the address \(address.host.text)."
    case .unknownHost(let address): "There is no host named \(address.host.text); give an address of this machine."
    case .badCertificate(let problem): "The certificate and key for TLS cannot be used: \(problem)."
    case .failed(let address, let reason): "Listening at \(address) failed: \(reason)."
    }
  }
}
