import RTCICE
import RTCMedia
package import RTCPrimitives
package import RTCSCTP
import RTCWire

/// One WebRTC peer, sans-IO: inputs are passed with their time, results are left in the `Outbox`.
///
/// It dispatches to its machines: decides which packet goes to which, enforces what was negotiated, and sets the order
/// in which senders may send. Each machine owns its state and its next deadline. Any number of transceivers share one
/// transport, one pacer, one rate control and one record of arrivals. Owned by one thread. It reads no clock, opens no
/// socket and draws no random number.
package struct Peer: ~Copyable {
  let configuration: PeerConfiguration
  var state = PeerState.new

  // Negotiation.
  var negotiation: Negotiation
  var negotiationNeeded = NegotiationNeededFlag()
  /// The local candidates that were reported.
  var announcedCandidates = AnnouncedCandidates()
  /// The remote tracks that were reported.
  var remoteTracks: [RemoteTrackDescription] = []

  // The machines.
  var transport: Transport
  var channels: DataChannels
  var media: RTPSession

  /// A peer in state `new`, which sends nothing before descriptions were exchanged.
  package init(_ configuration: PeerConfiguration) {
    self.configuration = configuration
    var random = SeededGenerator(seed: configuration.seed)
    let primary = SendStreamIdentity(using: &random)
    let candidates =
      configuration.localCandidates
      ?? ICECandidate.hosts(
        addresses: configuration.localAddresses.map { ($0.ip, 0) },
        port: configuration.localAddresses.first?.port ?? 0)
    negotiation = Negotiation(
      configuration, cname: primary.cname, sessionID: random.next() >> 2, candidates: candidates)
    let (tieBreaker, seed) = (random.next(), random.next())
    transport = Transport(configuration, candidates: candidates, tieBreaker: tieBreaker, seed: seed)
    channels = DataChannels(configuration)
    media = RTPSession(configuration, primary: primary, random: random)
    for (wanted, track) in configuration.initialTransceivers { place(negotiation.add(wanted), track) }
  }

  // MARK: - The ways in

  /// Handles one input at `now` and leaves datagrams, events and the next deadline in `outbox`.
  ///
  /// Times must not decrease between calls. Faults of the remote peer are counted in the statistics, never thrown.
  package mutating func handle(_ input: consuming Input, now: Timestamp, into outbox: inout Outbox) {
    switch consume input {
    case .datagram(var bytes, let kind, let route): receive(&bytes, kind, route: route, now: now, into: &outbox)
    case .stun(let message, let route): receive(message, route: route, now: now, into: &outbox)
    case .deadline: break  // handled below, like every deadline that has come
    case .frame(let frame, let id): media.send(frame, of: id, now: now, over: &transport, into: &outbox)
    case .audio(let frame, let id): media.send(frame, of: id, now: now, over: &transport, into: &outbox)
    }
    finishStep(now, into: &outbox)
  }

  /// Executes `command` at `now`, leaves datagrams, events and the next deadline in `outbox`, and returns the result.
  /// - Throws: the reason why it is impossible, and whose fault it is. The negotiation and the transceivers are then
  ///   unchanged.
  package mutating func perform(
    _ command: Command, now: Timestamp, into outbox: inout Outbox
  ) throws(NegotiationFailure) -> CommandResult {
    defer { finishStep(now, into: &outbox) }
    guard !isEnded else {
      guard command.expectsResult else { return .done }
      throw NegotiationFailure(kind: .wrongState, sentence: "This connection has ended; make a new one.")
    }
    let (saved, before) = (negotiation, negotiation.signalingState)
    do throws(NegotiationFailure) {
      let result = try carryOut(command, now: now, into: &outbox)
      settleNegotiation(before, into: &outbox)
      return result
    } catch {
      negotiation = saved
      settleNegotiation(before, into: &outbox)
      throw error
    }
  }

  /// Carries out a command for the data channels; otherwise as the other commands.
  /// - Returns: the new channel, of `.open`; nil of every other command.
  /// - Throws: when the channel cannot be made or takes no message now.
  @discardableResult
  package mutating func perform(
    _ command: DataChannelCommand, now: Timestamp, into outbox: inout Outbox
  ) throws(DataChannelError) -> DataChannelHandle? {
    defer { finishStep(now, into: &outbox) }
    updateDataPath(now)
    let handle = try channels.perform(command, now: now, over: &transport, into: &outbox)
    if handle != nil {
      negotiation.dataChannels?.isWanted = true
      announceNegotiationNeed(into: &outbox)
    }
    return handle
  }

  /// The first 32 bits of its STUN transactions, by which answers find it among the peers of one port; to be set before
  /// anything is sent.
  package var transactionTag: UInt32 {
    get { transport.transactionTag }
    set { transport.transactionTag = newValue }
  }

  // MARK: - Datagrams

  private mutating func receive(
    _ bytes: inout MutableSpan<UInt8>, _ kind: PacketKind?, route: Route, now: Timestamp, into outbox: inout Outbox
  ) {
    guard !isEnded else { return }
    // Unexpected media is not even decrypted: viewers have no media to send.
    if kind == .rtp, !media.expectsMedia { return media.countUnexpected() }
    var events: [Transport.Event] = []
    let content = transport.receive(
      &bytes, kind, route: route, now: now, into: &outbox.datagrams, events: &events)
    switch content {
    case .rtp(let count): media.receiveRTP(bytes.span.extracting(0..<count), now: now, over: &transport, into: &outbox)
    case .rtcp(let count):
      media.receiveRTCP(bytes.span.extracting(0..<count), now: now, over: &transport, into: &outbox)
    case nil: apply(events, now: now, into: &outbox)
    }
  }

  private mutating func receive(_ message: STUNMessage, route: Route, now: Timestamp, into outbox: inout Outbox) {
    guard !isEnded else { return }
    var events: [Transport.Event] = []
    transport.receive(message, route: route, now: now, into: &outbox.datagrams, events: &events)
    apply(events, now: now, into: &outbox)
  }

  // MARK: - Time

  /// The earliest deadline of all machines.
  private var nextDeadline: EarliestDeadline<PeerTimer> {
    var next = EarliestDeadline<PeerTimer>()
    guard !isEnded else { return next }
    next.consider(transport.nextDeadline, .transport)
    media.considerDeadlines(&next)
    next.consider(channels.nextDeadline, .dataChannels)
    return next
  }

  /// Performs everything that is due. Bounded, since a deadline that is always past would otherwise never end.
  private mutating func finishStep(_ now: Timestamp, into outbox: inout Outbox) {
    let data = channels.takeSentBytes()
    if data > 0 { media.countData(bytes: data, now: now) }
    var turns = 0
    var next = nextDeadline
    while turns < 64, next.time <= now, let timer = next.timer {
      turns += 1
      run(timer, now: now, into: &outbox)
      next = nextDeadline
    }
    (outbox.nextDeadline, outbox.nextTimer) = (next.time, next.timer)
  }

  private mutating func run(_ timer: PeerTimer, now: Timestamp, into outbox: inout Outbox) {
    switch timer {
    case .transport:
      var events: [Transport.Event] = []
      transport.deadlineReached(now, into: &outbox.datagrams, events: &events)
      apply(events, now: now, into: &outbox)
    case .dataChannels:
      updateDataPath(now)
      channels.deadlineReached(now, over: &transport, into: &outbox)
    case .pacer, .firstMeasurement, .reports, .rate, .audioSender, .videoReceiver, .feedback, .videoSender:
      media.deadlineReached(timer, now: now, over: &transport, into: &outbox)
    }
  }

  /// The media's rate control knows the path better than SCTP, which takes every loss for congestion.
  private mutating func updateDataPath(_ now: Timestamp) {
    channels.setPath(
      rate: media.rate.dataTarget(now), roundTrip: media.roundTripTime(transport) ?? .zero,
      loss: media.rate.hasFeedback(now) ? media.rate.smoothedLoss : 0)
  }

  // MARK: - State

  var isEnded: Bool { if case .ended = state { true } else { false } }

  mutating func change(to newState: PeerState, into outbox: inout Outbox) {
    guard !isEnded, newState != state else { return }
    state = newState
    outbox.events.append(.stateChanged(newState))
  }

  /// Follows what happened to the transport.
  mutating func apply(_ events: [Transport.Event], now: Timestamp, into outbox: inout Outbox) {
    for event in events where !isEnded {
      switch event {
      case .secured:
        media.start(now, over: &transport, into: &outbox)
        change(to: .connected, into: &outbox)
        updateDataChannels(now, into: &outbox)
        media.updateSending(now, over: &transport, into: &outbox)
      case .disconnected: if state == .connected { change(to: .disconnected, into: &outbox) }
      case .reconnected: if state == .disconnected { change(to: .connected, into: &outbox) }
      case .routeChanged: media.routeChanged(now)
      case .claimed(let claim): outbox.claims.append(claim)
      case .connectivityChanged(let connectivity): outbox.events.append(.connectivityChanged(connectivity))
      case .data(let packet):
        updateDataPath(now)
        channels.receive(packet, now: now, over: &transport, into: &outbox)
      case .ended(let reason): end(reason, now: now, into: &outbox)
      }
    }
  }

  /// Says goodbye (RTCP BYE, DTLS close_notify) and ends.
  mutating func close(because reason: EndReason = .closedLocally, now: Timestamp, into outbox: inout Outbox) {
    channels.close(now: now, over: &transport, into: &outbox)
    media.sendGoodbye(over: &transport, into: &outbox)
    transport.close(into: &outbox.datagrams)
    negotiation.close()
    end(reason, now: now, into: &outbox)
  }

  /// Ends the peer: nothing is sent any more, and memory is released.
  private mutating func end(_ reason: EndReason, now: Timestamp, into outbox: inout Outbox) {
    if isEnded { return }
    channels.close(now: now, over: &transport, into: &outbox)
    change(to: .ended(reason), into: &outbox)
    media.end()
    transport.end()
  }
}

/// The earliest of several deadlines, and whose it is.
package struct EarliestDeadline<Timer> {
  /// `.distantFuture` when nothing is due.
  package private(set) var time = Timestamp.distantFuture
  package private(set) var timer: Timer?

  package init() {}

  /// Considers a timer. If several have the same time, the first is kept.
  package mutating func consider(_ deadline: Timestamp, _ candidate: Timer) {
    guard deadline < time else { return }
    time = deadline
    timer = candidate
  }
}

/// The reasons a peer may want to be woken, each the next deadline of one of its machines.
package enum PeerTimer: CaseIterable, Hashable, Sendable {
  /// ICE checks, consent and keep-alive; DTLS retransmission; the time limit of connecting.
  case transport
  /// The pacer may send its next packets.
  case pacer
  /// The first picture has waited long enough for the first probes.
  case firstMeasurement
  /// Sender and receiver reports.
  case reports
  /// The bandwidth estimate.
  case rate
  /// An audio sender's own bitrate.
  case audioSender
  /// Missing packets or a key frame are asked for again, or given up.
  case videoReceiver
  /// Transport-wide feedback to the sender.
  case feedback
  /// The last packets may be lost without the viewer's knowing; a source may be asked for another key frame.
  case videoSender
  /// SCTP: retransmissions, delayed acknowledgements, heartbeats.
  case dataChannels
}
