import Glibc
import Logging
import RTCDTLS
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import RTCast

/// One run of the hub: from its configuration to its goodbye.
struct ServeRunner {
  private enum Happening {
    case hub(HubNews)
    case stream(StreamRelay.News)
    case end(CastEnding)
  }

  private let command: ServeCommand
  private let output: ServeOutput
  private let logger: Logger
  private let happenings: AsyncStream<Happening>
  private let report: AsyncStream<Happening>.Continuation

  init(_ command: ServeCommand) {
    self.command = command
    output = ServeOutput(json: command.output.json, hidesQRCode: command.hidesQRCode)
    logger = StandardErrorLog.logger(verbosity: command.output.verbose)
    // The latest counts: an end is the last.
    (happenings, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Serves until something ends it. Failures have been told when it throws.
  func run() async throws {
    let listen = try command.listenAddress
    do throws(CastFailure) {
      let report = report
      try StopSignals.install { number in report.yield(.end(.signal(number))) }
      try await serve(listen)
    } catch {
      output.failed(error)
      throw error.status.code
    }
  }

  private func serve(_ listen: ListenAddress) async throws(CastFailure) {
    OpenFiles.allowMost()
    let token = try command.token.secret()?.token
    let access = HubAccess(shared: token, perPeer: try command.tokens.map(TokenFile.read) ?? [:])
    let certificate = try certificate()
    let report = report
    let network = try command.network.peerOptions(isTold: false)
    let turn = try command.turn.service()
    // Who publishes and who watches is told of the same servers as peers of the hub, each with credentials of their own.
    let directory = StreamDirectory {
      network.iceServers + (turn.map { [$0.server(for: "stream", unixTime: Int64(time(nil)))] } ?? [])
    }
    let relay = StreamRelay(
      into: directory, makePeers: { try PeerLoop(network) }, report: { report.yield(.stream($0)) })
    var configuration = configuration(listen, certificate, token)
    configuration.hub = HubConfiguration(
      limits: hubLimits, access: access, iceServers: network.iceServers, turn: turn)
    configuration.publications = relay
    let server: SignalingServer
    do throws(SignalingServerError) {
      server = try await SignalingServer.start(configuration, sessions: relay.directory, logger: logger)
    } catch {
      throw CastFailure(error)
    }
    output.listening(
      at: links(to: server, token), local: server.link, fingerprint: certificate?.fingerprint.digits,
      isOpen: token == nil && command.tokens == nil && !listen.host.isLoopback)
    let limit = command.output.duration.map { seconds in
      Task { if (try? await Task.sleep(for: .seconds(seconds))) != nil { report.yield(.end(.durationOver)) } }
    }
    let ending = await follow()
    limit?.cancel()
    await relay.stop()
    await server.shutdown()
    output.ended(ending)
  }

  private func follow() async -> CastEnding {
    for await happening in happenings {
      switch happening {
      case .hub(let news):
        output.hubChanged(news)
        switch news {
        case .registered(let name, let dialect):
          logger.info("A peer registered.", metadata: ["id": "\(name)", "dialect": "\(dialect.rawValue)"])
        case .resumed(let name): logger.info("A peer is back.", metadata: ["id": "\(name)"])
        case .left(let name): logger.info("A peer left.", metadata: ["id": "\(name)"])
        }
      case .stream(let news):
        output.streamsChanged(news)
        switch news {
        case .published(let name): logger.info("A stream is published.", metadata: ["stream": "\(name)"])
        case .ended(let name): logger.info("A stream has ended.", metadata: ["stream": "\(name)"])
        case .undecodable(let name, let viewers, let format):
          logger.warning(
            "Viewers cannot decode what a stream is coded in now.",
            metadata: ["stream": "\(name)", "viewers": "\(viewers)", "format": "\(format)"])
        }
      case .end(let ending): return ending
      }
    }
    return .signal(SIGTERM)  // never: the stream is not finished by anybody
  }

  // MARK: - Configuration

  private func configuration(
    _ listen: ListenAddress, _ certificate: ServeCertificate?, _ token: AccessToken?
  ) -> SignalingServerConfiguration {
    var server = ServerLimits()
    server.connections = command.limits.maxConnections
    let report = report
    var configuration = SignalingServerConfiguration(
      listen: listen, token: token, hostNames: command.hostName, limits: server)
    configuration.frontPage = .hub(HubPage.html)
    configuration.origins = command.allowOrigin
    configuration.tls = certificate?.identity
    // Nothing is shown here but what peers show each other.
    configuration.isOpenByIntent = true
    configuration.whenHubChanges = { report.yield(.hub($0)) }
    return configuration
  }

  private var hubLimits: HubLimits {
    var limits = HubLimits()
    limits.connections = command.limits.maxConnections
    limits.peers = command.limits.maxPeers
    limits.rooms = command.limits.maxRooms
    limits.messageBytes = command.limits.maxMessage
    limits.messagesPerSecond = command.limits.maxRate
    limits.messageBurst = max(limits.messageBurst, command.limits.maxRate * 2)
    return limits
  }

  private func certificate() throws(CastFailure) -> ServeCertificate? {
    if let certificate = command.tlsCert, let key = command.tlsKey {
      return try ServeCertificate(certificate: certificate, key: key)
    }
    guard command.tls else { return nil }
    return try ServeCertificate.kept(addresses: outwardAddresses.map(\.description) + ["127.0.0.1", "::1"])
  }

  // MARK: - Addresses

  private var outwardAddresses: [IPAddress] {
    NetworkInterfaces.hostCandidates(from: (try? NetworkInterfaces.addresses()) ?? [])
      .filter { !$0.isLoopback && !$0.isLinkLocal }
  }

  /// docs/features.md S1.11: a server on every address is reached from elsewhere by the addresses of this machine, so those come
  /// first.
  private func links(to server: SignalingServer, _ token: AccessToken?) -> [String] {
    guard server.address.host.isUnspecified else { return [server.link] }
    let takesV6 = server.address.host.isIPv6
    let outward = outwardAddresses.filter { $0.isV4 || takesV6 }.map {
      ListenAddress(host: HostName($0.description), port: server.address.port)
        .link(token: token, isSecure: server.isSecure)
    }
    return outward + [server.link]
  }
}
