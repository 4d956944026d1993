import RTCPrimitives
import RTCWire

/// One SCTP association over DTLS, which preserves packets and encrypts them (RFC 9260, RFC 8261): messages on streams,
/// without channels.
///
/// Sans-IO. After every call that may have changed something, the owner takes the events, then calls `flush`, which
/// writes the chunks that can be sent now, and takes `packets`. Owned by one thread.
struct SCTPAssociation: ~Copyable {
  struct Options {
    /// Most streams in each direction.
    var streams: UInt16 = 1_024
    /// Most bytes of a packet.
    var packetSize = 1_160
    /// Most bytes that are sent and not acknowledged.
    var sendBuffer = 512 * 1024
    /// Maximum bytes of received data that are kept.
    var receiveBuffer = 1 << 20
    /// The longest message taken.
    var maximumMessageSize = 262_144
    /// Whether interleaving is offered; partial reliability and resets always are.
    var offersInterleaving = true
    var acceptsZeroChecksum = true
    /// The number of consecutive transmissions without an answer that ends the association (RFC 9260 §8.1).
    var maximumRetransmissions = 10
    var heartbeatInterval = TimeDelta.seconds(30)
  }

  /// RFC 9260 §4.
  enum State {
    case closed
    case cookieWait
    case cookieEchoed
    case established
    /// All data must be acknowledged before SHUTDOWN is sent.
    case shutdownPending
    case shutdownSent
    /// All data must be acknowledged before SHUTDOWN ACK is sent.
    case shutdownReceived
    case shutdownAckSent
  }

  /// The peer's parameters of an association, and ours as sent to the peer.
  struct Pending {
    var peer: SCTPInitiation
    var localTag: UInt32
    var localTSN: TSN
    /// The state cookie. It stands for this record, which stays here: there is one peer, and DTLS has proved who it is, so
    /// that there is nothing to be kept out of a signed cookie (RFC 9260 §5.1.3).
    var cookie: [UInt8]
  }

  /// RFC 9260 §6.1: the maximum that one event may send; ten packets, the number allowed at the start (RFC 6928).
  static let maximumBurst = 10
  /// An acknowledgement leaves with the second packet at the latest, if packets come in this time.
  private static let ackPatience = TimeDelta.milliseconds(20)
  /// Without an event to send at, a burst is allowed again after so long.
  private static let burstInterval = TimeDelta.milliseconds(1)

  let options: Options
  var state = State.closed
  var builder: PacketBuilder
  var random = SeededGenerator(seed: 0)
  var events = Ring<SCTPEvent>()
  /// Packets that broke a rule.
  var violations = 0

  /// The tag that every packet to us must have.
  var localTag: UInt32 = 0
  var localInitialTSN = TSN(0)
  /// The peer's INIT, answered and not yet confirmed.
  var pending: Pending?
  /// The parameters of a peer that restarts.
  var restarting: Pending?
  /// The peer's state cookie, until it is acknowledged.
  var peerCookie: [UInt8] = []
  var initiationAttempts = 0

  var peer = SCTPInitiation(
    initiateTag: 0, receiverWindow: 0, outboundStreams: 1, inboundStreams: 1, initialTSN: TSN(0))
  var isInterleaved = false
  var tracker = DataTracker(initialTSN: TSN(0))
  var reassembly: ReassemblyQueue
  var sendQueue = SendQueue()
  var retransmission = RetransmissionQueue(firstTSN: TSN(0))
  var congestion: CongestionWindow
  var copies = EarlyCopies()
  var rto = RTOEstimator()
  var resets = StreamReset(initialTSN: TSN(0), peerInitialTSN: TSN(0))
  var timers = SCTPTimers()
  /// Transmissions in a row that nothing answered.
  var errorCount = 0
  /// The window that the peer advertised last.
  var peerWindow = 0
  /// The window that we advertised last.
  var advertisedWindow = 0
  var lastHeard = Timestamp.zero
  /// When the HEARTBEAT left that has not been answered.
  var heartbeatSentAt: Timestamp?
  /// The rate of the path by a rate control outside of SCTP; zero: unknown.
  var pathRate = BitRate.zero
  var burstLeft = 0
  var burstRefilledAt = Timestamp.zero
  /// Whether FORWARD TSN is to be sent.
  var isForwardDue = false
  /// A packet may leave although the window is full: the first of a fast retransmission, or a probe.
  var isWindowOverruled = false
  /// A probe has been sent since something was acknowledged.
  var hasProbed = false
  /// The last chunk sent asks for an acknowledgement at once.
  var hasAskedForAck = false
  /// Events of resets by the peer that have not been taken.
  var pendingResetEvents = 0

  init(options: Options) {
    self.options = options
    builder = PacketBuilder(packetSize: options.packetSize)
    congestion = CongestionWindow(packet: options.packetSize, maximum: options.sendBuffer)
    reassembly = ReassemblyQueue(
      maximumMessageSize: options.maximumMessageSize, capacity: options.receiveBuffer, isInterleaved: false)
  }

  // MARK: - The owner's calls

  /// Begins: both sides do so (RFC 9260 §5.2.1), each with ports that it has agreed on with the other.
  mutating func connect(localPort: UInt16, remotePort: UInt16, seed: UInt64, now: Timestamp) {
    guard case .closed = state, localTag == 0 else { return }
    random = SeededGenerator(seed: seed)
    (builder.localPort, builder.remotePort) = (localPort, remotePort)
    localTag = makeTag()
    localInitialTSN = TSN(UInt32(truncatingIfNeeded: random.next()))
    state = .cookieWait
    lastHeard = now
    sendInitiation(now)
  }

  /// Queues a message; `flush` sends it. False when the association takes none (any more).
  mutating func send(_ message: OutgoingMessage, on stream: StreamID, priority: UInt16) -> Bool {
    guard case .established = state, stream.value < peer.inboundStreams, stream.value < options.streams,
      !message.bytes.isEmpty
    else { return false }
    var message = message
    if !peer.capabilities.hasPartialReliability {
      // Chunks given up cannot be skipped, so none is given up.
      message.maximumRetransmissions = .max
      message.expiry = .distantFuture
    }
    sendQueue.enqueue(message, on: stream, priority: priority)
    return true
  }

  /// Resets our side of streams as soon as what waits in them has been sent (RFC 6525 §5.1.2).
  mutating func resetOutgoing(_ streams: [StreamID]) {
    guard peer.capabilities.hasReconfiguration else {
      events.append(.outgoingReset(streams, failed: true))
      return
    }
    resets.want(streams)
  }

  /// Ends in good order: what waits is sent, and acknowledged, first (RFC 9260 §9.2).
  mutating func shutDown() {
    if case .established = state { state = .shutdownPending }
  }

  /// Ends at once, and notifies the peer if there is one (RFC 9260 §9.1).
  mutating func abort() {
    switch state {
    case .closed: return
    case .cookieWait: break
    case .cookieEchoed, .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent:
      builder.add(SCTPErrorCause.chunkSize(information: 0)) {
        SCTPErrorCause.userInitiatedAbort.writeChunk(.abort, information: [UInt8]().span, into: &$0)
      }
      builder.close()
    }
    close(nil)
  }

  /// The next event. Messages that are not taken fill the receive buffer.
  mutating func nextEvent() -> SCTPEvent? {
    guard !events.isEmpty else { return nil }
    let event = events.removeFirst()
    switch event {
    case .message(_, _, let bytes): reassembly.taken(bytes.count)
    case .overlongMessage: reassembly.taken(0)
    case .incomingReset: pendingResetEvents -= 1
    default: break
    }
    return event
  }

  /// When `advance` is due.
  var nextDeadline: Timestamp { min(timers.next, tracker.ackDeadline, copies.deadline) }

  /// Takes what others have measured of the path; see `DataChannelTransport.setPath`.
  mutating func setPath(rate: BitRate, roundTrip: TimeDelta, loss: Double) {
    pathRate = rate
    congestion.setPathCapacity(rate.bytes(in: min(roundTrip, .seconds(5)) + Self.ackPatience))
    copies.setPath(rate: rate, loss: loss)
  }

  /// Bytes of messages in a stream that have not been sent.
  func bufferedAmount(of stream: StreamID) -> Int { sendQueue.bufferedAmount(of: stream) }

  // MARK: - Common to the procedures

  mutating func makeTag() -> UInt32 { max(1, UInt32(truncatingIfNeeded: random.next())) }

  /// The association is over; `event` says why, if its owner does not know.
  mutating func close(_ event: SCTPEvent?) {
    state = .closed
    timers.stopAll()
    tracker = DataTracker(initialTSN: TSN(0))
    sendQueue = SendQueue()
    retransmission = RetransmissionQueue(firstTSN: TSN(0))
    copies.removeAll()
    (pending, restarting, peerCookie) = (nil, nil, [])
    if let event { events.append(event) }
  }

  /// Counts a transmission that nothing answered. False when there have been too many: the association is over.
  mutating func countError() -> Bool {
    errorCount += 1
    guard errorCount > options.maximumRetransmissions else { return true }
    close(.lost)
    return false
  }

  /// Allows a burst, at an event that may send.
  mutating func refillBurst(_ now: Timestamp, packets: Int = maximumBurst) {
    burstLeft = packets
    burstRefilledAt = now
  }

  mutating func refillBurstIfIdle(_ now: Timestamp) {
    if retransmission.isEmpty || now >= burstRefilledAt + Self.burstInterval { refillBurst(now) }
  }
}

/// An event of an association, in order.
enum SCTPEvent {
  /// It is established; the number of streams in each direction.
  case connected(streams: Int)
  case message(StreamID, UInt32, [UInt8])
  /// A message is longer than allowed, and was dropped.
  case overlongMessage(StreamID)
  /// Our side of these streams has been reset, or could not be.
  case outgoingReset([StreamID], failed: Bool)
  /// The peer has reset its side of these streams; none named: of all.
  case incomingReset([StreamID])
  /// The peer aborted it, or restarted.
  case aborted
  /// There was no answer.
  case lost
  /// Both sides have shut it down.
  case shutDown
}
