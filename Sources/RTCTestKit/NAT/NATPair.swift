import RTCDTLS
package import RTCEngine
import RTCICE
import RTCMedia
package import RTCPrimitives
import RTCWire

/// Two peers, each with a gatherer, each behind a NAT or none, with a STUN and TURN server on the public side, on virtual time.
/// The offerer sends video.
package final class NATPair {
  /// How a pair is made.
  package struct Options {
    /// The seed of all random choices.
    package var seed: UInt64 = 1
    /// Between any two hosts, each way.
    package var conditions = NetworkConditions.delayed(.milliseconds(10))
    /// The NATs of the offerer and the answerer; nil: a public address.
    package var kinds: [PeerPair.Side: NATKind] = [:]
    /// True: descriptions leave at once, candidates follow one by one. False: gathering comes first.
    package var trickles = true
    /// How long signaling takes, each way.
    package var signalingDelay = TimeDelta.milliseconds(20)
    /// The transport policy of both.
    package var policy = ICETransportPolicy.all
    /// The last word on the server's options.
    package var configureServer: (inout TURNServerEmulator.Options) -> Void = { _ in }

    /// Two hosts without NATs, 20 ms apart, that trickle.
    package init() {}
  }

  private enum Message {
    case description(Description)
    case candidate(ICECandidateInit)
  }

  /// The hosts, NATs and the server.
  package let world: NATWorld
  /// The options of the pair.
  package let options: Options
  private var ends: [PeerPair.Side: PeerEnd] = [:]
  private var inSignaling = DeliveryQueue<(to: PeerPair.Side, message: Message)>()
  private var random: SeededGenerator

  /// Makes two peers that have neither gathered nor negotiated; throws if no certificate can be made.
  package init(_ options: Options = Options()) throws {
    self.options = options
    world = NATWorld(seed: options.seed, conditions: options.conditions)
    random = SeededGenerator(seed: options.seed ^ 0x4E41_5450)
    world.addServer(options.configureServer)
    for side in Self.sides {
      let host = world.addHost(behind: options.kinds[side].map { world.addGateway($0) }, seed: options.seed)
      ends[side] = PeerEnd(Peer(try configuration(side, host)))
    }
    attach()
  }

  private static let sides = [PeerPair.Side.offerer, .answerer]

  private func configuration(_ side: PeerPair.Side, _ host: GatheringHost) throws -> PeerConfiguration {
    var configuration = PeerConfiguration(
      localAddresses: [host.address], certificate: try DTLSCertificate(),
      iceCredentials: ICECredentials(using: &random), seed: random.next())
    configuration.localCandidates = host.gatherer.candidates
    configuration.isGatheringComplete = false
    configuration.iceTransportPolicy = options.policy
    configuration.sendsVideo = side == .offerer ? PeerConfiguration.OutgoingVideo() : nil
    configuration.receivesVideo = side == .answerer
    configuration.wallClockOffset = .seconds(1_700_000_000)
    return configuration
  }

  private func attach() {
    for side in Self.sides {
      host(side).taker = { [unowned self] bytes, route in
        var bytes = bytes
        let kind = PacketKind(bytes.span)
        step(side, .datagram(bytes.mutableSpan, kind, route))
      }
      host(side).candidatesChanged = { [unowned self] in tellCandidates(side) }
    }
    world.ownDeadline = { [unowned self] in
      Self.sides.reduce(inSignaling.firstTime ?? .distantFuture) { min($0, self[$1].nextTime) }
    }
    world.serveOwnDeadline = { [unowned self] in serveDeadlines() }
  }

  // MARK: - Sides

  /// The peer of one side.
  package subscript(side: PeerPair.Side) -> PeerEnd { ends[side]! }
  /// The host of one side.
  package func host(_ side: PeerPair.Side) -> GatheringHost { world.hosts[side == .offerer ? 0 : 1] }

  /// True when both peers' state is `connected`.
  package var areConnected: Bool { self[.offerer].state == .connected && self[.answerer].state == .connected }

  /// The ways that the two send media, as each sees it.
  package var routes: [PeerPair.Side: Route] {
    var routes: [PeerPair.Side: Route] = [:]
    for side in Self.sides { routes[side] = self[side].peer.statistics.selectedRoute }
    return routes
  }

  // MARK: - Connecting

  /// Asks the server for addresses and relays, by UDP and TCP, on both sides at once.
  package func gather() {
    for side in Self.sides {
      host(side).addSTUN()
      host(side).addTURN()
      host(side).addTURN(transport: .tcp)
    }
  }

  /// Gathers and exchanges descriptions, and lets time pass until both are connected, DTLS included.
  /// - Returns: the time since the offer was made; nil when it took longer than `limit`.
  @discardableResult
  package func connect(within limit: TimeDelta = .seconds(10)) -> TimeDelta? {
    gather()
    if !options.trickles {
      world.run(for: .seconds(5)) { Self.sides.allSatisfy { self.host($0).gatherer.isComplete } }
    }
    let start = world.now
    perform(.offerer, .createOffer)
    world.run(for: limit) { self.areConnected }
    return areConnected ? world.now - start : nil
  }

  /// Has a peer carry out a command; a description that comes of it goes to the other side.
  package func perform(_ side: PeerPair.Side, _ command: Command) {
    let end = self[side]
    do throws(NegotiationFailure) {
      let result = try end.peer.perform(command, now: world.now, into: &end.outbox)
      end.add(.success(result))
      if case .description(let description) = result { signal(.description(description), from: side) }
    } catch {
      end.add(.failure(error))
    }
    finishStep(side)
  }

  private func tellCandidates(_ side: PeerPair.Side) {
    guard ends[side] != nil else { return }
    let gatherer = (host(side).gatherer.candidates, host(side).gatherer.isComplete)
    perform(side, .setLocalCandidates(gatherer.0, isComplete: gatherer.1))
  }

  private func signal(_ message: Message, from side: PeerPair.Side) {
    inSignaling.insert((side.other, message), at: world.now + options.signalingDelay)
  }

  private func take(_ message: Message, at side: PeerPair.Side) {
    switch message {
    case .description(let description):
      switch description.kind {
      case .offer: perform(side, .acceptOffer(description.sdp))
      default: perform(side, .acceptAnswer(description.sdp))
      }
    case .candidate(let candidate): perform(side, .addRemoteCandidate(candidate))
    }
  }

  // MARK: - Steps

  private func step(_ side: PeerPair.Side, _ input: consuming Input) {
    let end = self[side]
    end.peer.handle(input, now: world.now, into: &end.outbox)
    finishStep(side)
  }

  private func finishStep(_ side: PeerPair.Side) {
    let end = self[side]
    for case .localCandidateGathered(let candidate) in end.outbox.events where options.trickles {
      signal(.candidate(candidate), from: side)
    }
    end.takeEvents(world.now)
    host(side).send(&end.outbox.datagrams)
    end.outbox.removeAll()
  }

  private func serveDeadlines() {
    while let time = inSignaling.firstTime, time <= world.now {
      let next = inSignaling.removeFirst()
      take(next.message, at: next.to)
    }
    for side in Self.sides {
      let end = self[side]
      makeFrames(side)
      var turns = 0
      while end.isAlive, end.outbox.nextDeadline <= world.now {
        step(side, .deadline)
        turns += 1
        precondition(turns < 100, "the \(side) asks to be woken at once for ever")
      }
    }
  }

  private func makeFrames(_ side: PeerPair.Side) {
    let end = self[side]
    for id in end.sending {
      if let time = end.sources[id]?.nextTime, time <= world.now, let frame = end.makeFrame(id, world.now) {
        step(side, .frame(frame, id))
      }
    }
  }
}
