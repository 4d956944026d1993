import RTCDTLS
package import RTCEngine
import RTCICE
package import RTCMedia
package import RTCPrimitives
package import RTCSCTP
package import RTCWire

/// Two peers, an emulated network between them, and a clock that only moves when the test says so.
package final class PeerPair {
  /// One of the two peers; the offerer makes the first offer.
  package enum Side: Hashable, Sendable {
    case offerer
    case answerer

    /// The opposite side.
    package var other: Side { self == .offerer ? .answerer : .offerer }
    var direction: NetworkEmulator.Direction { self == .offerer ? .aToB : .bToA }
  }

  /// How a pair is made.
  package struct Options {
    /// The seed of both peers' credentials and random choices, and the network's.
    package var seed: UInt64 = 1
    /// The time to begin at.
    package var start = Timestamp.zero + .seconds(1_000)
    /// The conditions of both directions.
    package var conditions = NetworkConditions.delayed(.milliseconds(20))
    /// The side that sends video; the other receives it.
    package var sender = Side.offerer
    /// The bounds of both peers' rate control.
    package var bitrates = BitrateLimits()
    /// The last word on a peer's configuration.
    package var configure: (Side, inout PeerConfiguration) -> Void = { _, _ in }
    /// The addresses of the peers, one each.
    package var addresses: [Side: SocketAddress] = [
      .offerer: SocketAddress(ip: .v4(0x0A00_0001), port: 5_000),
      .answerer: SocketAddress(ip: .v4(0x0A00_0002), port: 6_000),
    ]
    /// The carriers of addresses that are not UDP ports.
    package var carriers: [SocketAddress: Route.Kind] = [:]
    /// Changes a description on its way to the other side; named is the side that made it.
    package var rewrite: (Side, String) -> String = { _, description in description }

    /// A perfect wire with a delay of 20 ms each way, and video from the offerer.
    package init() {}
  }

  /// A datagram that left a peer.
  package struct Departure: Sendable {
    /// When it left.
    package var time: Timestamp
    /// The sender.
    package var side: Side
    /// The kind by its first bytes; nil for unknown kinds.
    package var kind: PacketKind?
    /// The datagram's payload, encrypted as it left.
    package var bytes: [UInt8]
    /// The header of media packets, which SRTP leaves readable.
    package var header: RTPHeader? { kind == .rtp ? RTPHeader(parsing: bytes.span) : nil }
  }

  /// The peer that makes the first offer.
  package let offerer: PeerEnd
  /// The peer that answers the first offer.
  package let answerer: PeerEnd
  /// The network between them.
  package var network: NetworkEmulator
  /// The time that both peers are given; begins at `Options.start`.
  package private(set) var now: Timestamp
  /// The options of the pair.
  package let options: Options
  /// Decides which datagrams arrive, by the sending side; nil: all.
  package var filter: ((Side, PacketKind?) -> Bool)?
  /// Switches the log of departures on.
  package var recordsDepartures = false
  /// The log, while `recordsDepartures` is set.
  package var departures: [Departure] = []
  /// Takes descriptions from one side to the other, where `negotiatePerfectly` was called.
  var signaling: Signaling?

  /// Two peers that have not negotiated yet; throws when no certificate can be made.
  package init(_ options: Options = Options()) throws {
    let first = try Self.configuration(.offerer, options)
    let second = try Self.configuration(.answerer, options)
    self.options = options
    now = options.start
    network = NetworkEmulator(seed: options.seed, conditions: options.conditions)
    offerer = PeerEnd(Peer(first))
    answerer = PeerEnd(Peer(second))
  }

  private static func configuration(_ side: Side, _ options: Options) throws -> PeerConfiguration {
    var random = SeededGenerator(seed: options.seed &* 2 &+ (side == .offerer ? 0 : 1))
    var configuration = PeerConfiguration(
      localAddresses: [options.addresses[side]!], certificate: try DTLSCertificate(),
      iceCredentials: ICECredentials(using: &random), seed: random.next())
    configuration.sendsVideo = options.sender == side ? PeerConfiguration.OutgoingVideo() : nil
    configuration.receivesVideo = options.sender != side
    configuration.bitrates = options.bitrates
    configuration.wallClockOffset = .seconds(1_700_000_000)
    // Pictures are sent as soon as the transport is secured, unless a test concerns the time before.
    configuration.firstPictureWait = .zero
    options.configure(side, &configuration)
    return configuration
  }

  // MARK: - Sides

  /// The peer of one side.
  package subscript(side: Side) -> PeerEnd { side == .offerer ? offerer : answerer }

  /// The peer that sends video.
  package var sender: PeerEnd { self[options.sender] }
  /// The peer that receives video.
  package var receiver: PeerEnd { self[options.sender.other] }

  /// The way media goes.
  package var mediaDirection: NetworkEmulator.Direction { options.sender.direction }

  // MARK: - Steps

  /// Passes one input to a peer, and its datagrams to the network.
  package func step(_ side: Side, _ input: consuming Input) {
    let end = self[side]
    end.peer.handle(input, now: now, into: &end.outbox)
    finishStep(side)
  }

  /// Makes a peer execute a command, and keeps the result.
  package func perform(_ side: Side, _ command: Command) {
    let end = self[side]
    do throws(NegotiationFailure) {
      let result = try end.peer.perform(command, now: now, into: &end.outbox)
      end.add(.success(result))
      if case .description(let description) = result { signaling?.take(description, from: side, now: now) }
    } catch {
      end.add(.failure(error))
    }
    finishStep(side)
  }

  /// Makes a peer execute a command for its data channels.
  /// - Returns: the new channel of `.open`; nil for every other command, and for refused ones, whose error is kept.
  @discardableResult
  package func perform(_ side: Side, _ command: DataChannelCommand) -> DataChannelHandle? {
    let end = self[side]
    defer { finishStep(side) }
    do throws(DataChannelError) {
      let handle = try end.peer.perform(command, now: now, into: &end.outbox)
      if let handle { end.add(handle) }
      return handle
    } catch {
      end.add(error)
      return nil
    }
  }

  private func finishStep(_ side: Side) {
    let end = self[side]
    signaling?.take(end.outbox.events, from: side)
    end.takeEvents(now)
    flush(side)
  }

  /// A picture for the first video transceiver.
  package func send(_ frame: EncodedFrame, from side: Side) {
    if let id = self[side].first(.video) { step(side, .frame(frame, id)) }
  }

  /// Lets a peer receive these bytes as if the other had sent them.
  package func inject(_ bytes: [UInt8], into side: Side) {
    let route = Route(local: options.addresses[side]!, remote: options.addresses[side.other]!)
    var bytes = bytes
    let kind = PacketKind(bytes.span)
    step(side, .datagram(bytes.mutableSpan, kind, route))
  }

  private func flush(_ side: Side) {
    let end = self[side]
    network.send(end.outbox.datagrams, direction: side.direction, now: now)
    if recordsDepartures { departures += Self.departures(end.outbox.datagrams, side, now) }
    end.outbox.removeAll()
  }

  private static func departures(_ batch: borrowing DatagramBatch, _ side: Side, _ now: Timestamp) -> [Departure] {
    var result: [Departure] = []
    for index in 0..<batch.count {
      let bytes = batch.datagram(index)
      result.append(
        Departure(
          time: now, side: side, kind: PacketKind(bytes), bytes: unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) }))
    }
    return result
  }

  // MARK: - Connecting

  /// Exchanges the descriptions, without a delay.
  package func exchangeDescriptions() {
    perform(.offerer, .createOffer)
    guard let offer = offerer.localDescription else { return }
    perform(.answerer, .acceptOffer(options.rewrite(.offerer, offer)))
    guard let answer = answerer.localDescription else { return }
    perform(.offerer, .acceptAnswer(options.rewrite(.answerer, answer)))
  }

  /// True when both peers' state is `connected`.
  package var areConnected: Bool { offerer.state == .connected && answerer.state == .connected }

  /// Exchanges the descriptions and lets time pass until both are connected.
  /// - Returns: the time it took; nil when it took longer than `limit`.
  @discardableResult
  package func connect(within limit: TimeDelta = .seconds(10)) -> TimeDelta? {
    let start = now
    exchangeDescriptions()
    run(for: limit) { $0.areConnected }
    return areConnected ? now - start : nil
  }

  // MARK: - Time

  /// Advances the clock, as after a long sleep: the next `run` performs what is due.
  package func leap(by duration: TimeDelta) { now = now + duration }

  /// Lets time pass until `duration` is over or, after some step, `condition` holds.
  package func run(for duration: TimeDelta, until condition: (PeerPair) -> Bool = { _ in false }) {
    let end = now + duration
    serveSignaling()
    serveDeadlines()
    while !condition(self) {
      let next = nextTime
      guard next <= end else {
        now = end
        return
      }
      now = max(now, next)
      deliver()
      serveSignaling()
      makeFrames()
      serveDeadlines()
    }
  }

  private var nextTime: Timestamp {
    let media = min(network.nextDeadline ?? .distantFuture, min(offerer.nextTime, answerer.nextTime))
    return min(media, signaling?.nextTime ?? .distantFuture)
  }

  private func deliver() {
    while let delivery = network.nextDelivery(by: now) {
      let side: Side = delivery.direction == .aToB ? .answerer : .offerer
      guard self[side].isAlive, filter?(side.other, PacketKind(delivery.bytes.span)) ?? true else { continue }
      var bytes = delivery.bytes
      var route = delivery.route
      route.kind = options.carriers[route.local] ?? route.kind
      let kind = PacketKind(bytes.span)
      step(side, .datagram(bytes.mutableSpan, kind, route))
    }
  }

  private func makeFrames() {
    for side in [Side.offerer, .answerer] {
      let end = self[side]
      guard end.isAlive, end.nextMediaTime <= now else { continue }
      let sending = end.sending
      end.keepSources(of: sending)
      for id in sending {
        if let time = end.sources[id]?.nextTime, time <= now, let frame = end.makeFrame(id, now) {
          step(side, .frame(frame, id))
        }
        while let time = end.audioSources[id]?.nextTime, time <= now, let frame = end.audioSources[id]?.next() {
          step(side, .audio(frame, id))
        }
      }
    }
  }

  /// A deadline may name the present, but only a bounded number of times: a peer that spins is caught here.
  private func serveDeadlines() {
    for side in [Side.offerer, .answerer] {
      var turns = 0
      while self[side].isAlive, self[side].outbox.nextDeadline <= now {
        step(side, .deadline)
        turns += 1
        precondition(turns < 100, "the \(side) asks to be woken at once for ever")
      }
    }
  }
}
