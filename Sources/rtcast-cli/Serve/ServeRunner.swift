import Glibc
import Logging
import RTCDTLS
import RTCIsolation
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import RTCast

/// One run of the hub: from its configuration to its goodbye.
struct ServeRunner {
  private enum Event {
    case hub(HubEvent)
    case stream(StreamRelay.Event)
    case control(ControlRequest)
    /// Settings are to be read again.
    case reload
    /// The service manager expects a sign of life.
    case beat
    case end(CastEnding)
  }

  private let command: ServeCommand
  private let output: ServeOutput
  private let logger: Logger
  private let events: AsyncStream<Event>
  private let report: AsyncStream<Event>.Continuation

  init(_ command: ServeCommand) {
    self.command = command
    output = ServeOutput(json: command.output.json, hidesQRCode: command.hidesQRCode)
    logger = StandardErrorLog.logger(verbosity: command.output.verbose)
    // The latest counts: an end is the last.
    (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Serves until an event ends it. Failures were printed when it throws.
  func run() async throws {
    let named = try command.listenAddress
    do throws(CastFailure) {
      let report = report
      try StopSignals.install(reload: { report.yield(.reload) }) { number in report.yield(.end(.signal(number))) }
      let passed = try PassedSockets.take(unlessListeningAt: command.listen)
      try await serve(passed?.address ?? named, passed)
    } catch {
      output.failed(error)
      throw error.status.code
    }
  }

  private func serve(_ listen: ListenAddress, _ passed: PassedSockets?) async throws(CastFailure) {
    OpenFiles.allowMost()
    let inlets = try ControlInlets(command.control)
    defer { inlets.close() }
    let access = try access(listen)
    let certificate = try certificate()
    let report = report
    let network = try peerOptions()
    let secret = try command.turn.sharedSecret()
    let turnHost = try command.turn.own.start(secret, listen: listen, advertised: command.network.advertised, logger)
    defer { turnHost?.stop() }
    let cluster = try await command.cluster.start(logger)
    let ownURLs = turnHost.map { turnURLs(of: $0, listen) } ?? []
    let turn = command.turn.service(secret, ownURLs: ownURLs)
    // Publishers and viewers get the same servers as peers of the hub, each with credentials of their own.
    let directory = StreamDirectory {
      network.iceServers + (turn.map { [$0.server(for: Self.viewerName, unixTime: Int64(time(nil)))] } ?? [])
    }
    var limits = StreamRelay.Limits()
    limits.streams = command.limits.maxStreams
    let relay = StreamRelay(
      into: directory, limits: limits,
      makePeers: {
        let peers = try PeerLoop(network)
        turnHost?.open(port: peers.port)
        return peers
      }, codecs: decodersOfPictures(),
      report: { report.yield(.stream($0)) })
    let audit = try command.access.auditFile(logger)
    defer { audit?.finish() }
    var configuration = configuration(listen, certificate, access.gate)
    if let audit { configuration.audit = { audit.write($0) } }
    configuration.hub = HubConfiguration(limits: hubLimits, iceServers: network.iceServers, turn: turn)
    configuration.publications = relay
    configuration.turn = turnHost
    if let cluster {
      configuration.presence = cluster
      access.gate.share(by: cluster)
      directory.share(by: cluster)
    }
    let socket = try command.access.socket(at: listen)
    defer { socket?.remove() }
    configuration.inheritedSockets = (passed?.descriptors ?? []) + [socket?.descriptor].compactMap(\.self)
    let output = output
    try inlets.start(respond: { output.answer($0) }, deliver: { report.yield(.control($0)) })
    let server: SignalingServer
    do throws(SignalingServerError) {
      server = try await SignalingServer.start(configuration, sessions: relay.directory, logger: logger)
    } catch {
      await cluster?.close()
      throw CastFailure(error)
    }
    let links = ServerLinks(
      server, access.gate, command.access, certificate: certificate, outward: outwardAddresses, hasHub: true)
    cluster?.announce(address: clusterAddress(in: links))
    output.listening(at: links, turn: ownURLs)
    let outside =
      command.network.mapsPort
      ? try OutsidePage(server, access.gate.secret, logger, onLink: { output.mapped(to: $0) }) : nil
    defer { outside?.close() }
    if access.isKept { KeptSecret.note(addresses: addresses(in: links)) }
    let limit = command.output.duration.map { seconds in
      Task { if (try? await Task.sleep(for: .seconds(seconds))) != nil { report.yield(.end(.durationOver)) } }
    }
    let service = ServiceNotifier.current
    let beats = service?.beats { report.yield(.beat) }
    service?.tell(.ready)
    let ending = await follow(server, HubControl(server, links, relay.directory), access, listen)
    service?.tell(.stopping)
    for task in [limit, beats] { task?.cancel() }
    await relay.stop()
    await server.shutdown()
    await cluster?.close()
    output.ended(ending)
  }

  private func follow(
    _ server: SignalingServer, _ control: HubControl, _ access: ServedAccess, _ listen: ListenAddress
  ) async -> CastEnding {
    let service = ServiceNotifier.current
    var population = HubPopulation(place: server.localAddress.link(token: nil, isSecure: server.isSecure))
    service?.tell(status: population.sentence)
    for await event in events {
      switch event {
      case .reload: reload(server, access, listen)
      case .beat:
        await server.answer()
        service?.tell(.watchdog)
      case .hub(let event):
        population.note(event)
        service?.tell(status: population.sentence)
        output.hubChanged(event)
        switch event {
        case .registered(let name, let dialect):
          logger.info("A peer registered.", metadata: ["peer": "\(name)", "dialect": "\(dialect.rawValue)"])
        case .resumed(let name): logger.info("A peer is back.", metadata: ["peer": "\(name)"])
        case .left(let name): logger.info("A peer left.", metadata: ["peer": "\(name)"])
        }
      case .stream(let event):
        output.streamsChanged(event)
        population.note(event)
        service?.tell(status: population.sentence)
        switch event {
        case .published(let name): logger.info("A stream is published.", metadata: ["stream": "\(name)"])
        case .ended(let name): logger.info("A stream has ended.", metadata: ["stream": "\(name)"])
        case .undecodable(let name, let viewers, let format):
          logger.warning(
            "Viewers cannot decode what a stream is coded in now.",
            metadata: ["stream": "\(name)", "viewers": "\(viewers)", "format": "\(format)"])
        }
      case .control(let request): if await control.perform(request) { return .stopped }
      case .end(let ending): return ending
      }
    }
    return .signal(SIGTERM)  // never: the stream is not finished by anybody
  }

  /// Reads certificate and tokens again. If that fails, all settings stay as they were.
  private func reload(_ server: SignalingServer, _ access: ServedAccess, _ listen: ListenAddress) {
    ServiceNotifier.current?.tellReloading()
    defer { ServiceNotifier.current?.tell(.ready) }
    do throws(CastFailure) {
      let (new, certificate) = (try self.access(listen), try certificate())
      if let certificate {
        do throws(SignalingServerError) { try server.show(certificate.identity) } catch { throw CastFailure(error) }
      }
      try access.adopt(new)
      logger.notice("Certificate and tokens were read again.")
    } catch {
      logger.error("\(error.sentence) The settings stay as they were.")
    }
  }

  private func access(_ listen: ListenAddress) throws(CastFailure) -> ServedAccess {
    try ServedAccess.ofHub(
      command.token.secret(configured: ConfigurationFiles.current.token),
      tokens: try command.tokens.map(TokenFile.read) ?? [:], listen, command.access, logger)
  }

  private func certificate() throws(CastFailure) -> ServeCertificate? {
    try command.access.certificate(addresses: outwardAddresses.map(\.description) + ["127.0.0.1", "::1"])
  }

  // MARK: - Configuration

  /// The decoders for the page with all streams, in processes without rights, which start when the page asks for pictures.
  private func decodersOfPictures() -> @Sendable () -> CodecRegistry {
    let logger = logger
    let isolation = IsolatedDecoders.rtcast { logger.warning("\($0)") }
    return {
      var registry = CodecRegistry.standard
      registry.isolation = isolation
      return registry
    }
  }

  private func peerOptions() throws(CastFailure) -> PeerLoop.Options {
    var options = try command.network.peerOptions(serversMayFollow: false)
    let logger = logger
    options.onNotice = { logger.warning("\($0)") }
    return options
  }

  private func configuration(
    _ listen: ListenAddress, _ certificate: ServeCertificate?, _ gate: AccessGate
  ) -> SignalingServerConfiguration {
    var server = ServerLimits()
    server.connections = OpenFiles.share(of: command.limits.maxConnections, relays: command.turn.own.openFiles)
    let report = report
    var configuration = SignalingServerConfiguration(
      listen: listen, gate: gate, hostNames: command.access.hostName, limits: server)
    configuration.frontPage = .hub(HubPage.html)
    configuration.origins = command.allowOrigin
    command.access.configure(&configuration)
    configuration.tls = certificate?.identity
    configuration.whenHubChanges = { report.yield(.hub($0)) }
    return configuration
  }

  private var hubLimits: HubLimits {
    var limits = HubLimits()
    limits.connections = OpenFiles.share(of: command.limits.maxConnections, relays: command.turn.own.openFiles)
    limits.peers = command.limits.maxPeers
    limits.rooms = command.limits.maxRooms
    limits.messageBytes = command.limits.maxMessage
    limits.messagesPerSecond = command.limits.maxRate
    limits.messageBurst = max(limits.messageBurst, command.limits.maxRate * 2)
    return limits
  }

  // MARK: - Addresses

  /// The addresses of the hub without its secret: the printed ones, and those with `--host-name`.
  private func addresses(in links: ServerLinks) -> [String] {
    var names = command.access.hostName.flatMap { ["https://\($0)/", "http://\($0)/"] }
    if command.access.publicAddress != nil { names.append(links.url) }
    return (links.urls + names).map { LinkFragment.split($0).address }.filter { WebAddress($0) != nil }
  }

  /// The URL at which viewers reach this hub, for other hubs.
  private func clusterAddress(in links: ServerLinks) -> String {
    let named = command.cluster.ownAddress ?? command.access.publicAddress
    return named?.description ?? LinkFragment.split(links.urls.first ?? links.url).address
  }

  /// The ways to the hub's own TURN server.
  private func turnURLs(of turn: TURNHost, _ listen: ListenAddress) -> [ICEServerURL] {
    let access = command.access
    let names = [access.publicAddress?.web.host.text].compactMap(\.self) + access.hostName
    return command.turn.own.urls(
      of: turn, securePort: access.tlsCert != nil && listen.socketPath == nil && listen.port != 0 ? listen.port : nil,
      names: names + command.network.advertised.map(\.host), addresses: turnAddresses(listen))
  }

  /// The one address of `--listen`, or those of the machine.
  private func turnAddresses(_ listen: ListenAddress) -> [IPAddress] {
    guard let ip = IPAddress(listen.host.text), !ip.isUnspecified, !ip.isLoopback else { return outwardAddresses }
    return [ip]
  }

  /// The name of a publisher or viewer of a stream in credentials: a TURN server counts allocations by the name.
  private static var viewerName: String { "stream-\(String(UInt32.random(in: .min ... .max), radix: 36))" }

  private var outwardAddresses: [IPAddress] {
    NetworkInterfaces.hostCandidates(from: (try? NetworkInterfaces.addresses()) ?? [])
      .filter { !$0.isLoopback && !$0.isLinkLocal }
  }
}
