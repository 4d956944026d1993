package import RTCPrimitives
import RTCWire

/// The data channels of one peer connection (RFC 8831, RFC 8832) over one SCTP association.
///
/// Sans-IO: packets (contents of DTLS records) and the time come in as arguments; packets and events leave through the
/// outbox. Owned by one thread.
package struct DataChannelTransport: ~Copyable {
  enum State {
    case idle
    case connecting
    case connected
    case ended
  }

  /// When `advance` must be called; `distantFuture` before the start and after the end.
  package var nextDeadline: Timestamp { isRunning ? association.nextDeadline : .distantFuture }
  /// The limits and sizes that the transport was made with.
  package let options: DataChannelOptions
  /// Violations by the peer: messages on streams without a channel, malformed control messages, refused channels,
  /// overlong messages.
  package internal(set) var violations = 0

  var state = State.idle
  var association: SCTPAssociation
  var channels: [DataChannelHandle: Channel] = [:]
  var handles: [StreamID: DataChannelHandle] = [:]
  /// Channels that close as soon as what waits in them has been sent.
  var leaving: Set<DataChannelHandle> = []
  /// False while the owner cannot take more; SCTP then holds the peer back.
  var takesMessages = true
  /// Streams of channels that the peer may not have; no channel of ours is on them.
  var refused: Set<StreamID> = []
  var nameBytes = 0
  var usableStreams: Int
  var isClient = false
  var remoteMaximumMessageSize = 0
  /// This side has requested the end in good order.
  var hasShutDown = false
  private var nextHandle: UInt64 = 0

  /// A transport that is not connected; `start` connects it.
  package init(options: DataChannelOptions = DataChannelOptions()) {
    self.options = options
    var inner = SCTPAssociation.Options()
    inner.streams = max(1, options.maximumStreams)
    inner.packetSize = options.packetSize
    inner.sendBuffer = options.sendBuffer
    inner.receiveBuffer = options.receiveBuffer
    inner.maximumMessageSize = options.maximumMessageSize
    inner.offersInterleaving = options.interleavesMessages
    association = SCTPAssociation(options: inner)
    usableStreams = Int(options.maximumStreams)
  }

  // MARK: The association

  /// Begins to connect, when DTLS is; both sides do so. Channels opened before are opened with it. Calling it again does
  /// nothing.
  /// - Parameters:
  ///   - isClient: of DTLS; decides who chooses even streams (RFC 8832 §6).
  ///   - remotePort: from the peer's `a=sctp-port`.
  ///   - remoteMaximumMessageSize: from the peer's `a=max-message-size`; nil: any.
  ///   - seed: of the numbers SCTP draws. DTLS keeps them from others.
  package mutating func start(
    isClient: Bool, localPort: UInt16 = 5000, remotePort: UInt16 = 5000, remoteMaximumMessageSize: UInt64?,
    seed: UInt64, now: Timestamp, into outbox: inout DataChannelOutbox
  ) {
    guard case .idle = state else { return }
    self.isClient = isClient
    self.remoteMaximumMessageSize = Int(min(remoteMaximumMessageSize ?? .max, UInt64(Int.max)))
    state = .connecting
    association.connect(localPort: localPort, remotePort: remotePort, seed: seed, now: now)
    finishStep(now, into: &outbox)
  }

  /// Takes one packet of the peer. Packets that are not SCTP, or not of this association, are ignored.
  package mutating func handle(_ packet: Span<UInt8>, now: Timestamp, into outbox: inout DataChannelOutbox) {
    guard isRunning else { return }
    association.handle(packet, now: now)
    finishStep(now, into: &outbox)
  }

  /// Performs what is due by `now`.
  package mutating func advance(now: Timestamp, into outbox: inout DataChannelOutbox) {
    guard isRunning else { return }
    association.advance(now: now)
    finishStep(now, into: &outbox)
  }

  /// Aborts the association, and with it every channel; for the end of the peer connection.
  package mutating func close(now: Timestamp, into outbox: inout DataChannelOutbox) {
    if case .idle = state, channels.isEmpty {
      // The peer never knew of it.
      state = .ended
      return
    }
    association.abort()
    end(.closedHere, into: &outbox)
  }

  /// Ends the association in good order: what waits in all channels is sent first, and nothing more is taken. `ended`
  /// follows on both sides.
  package mutating func shutDown(now: Timestamp, into outbox: inout DataChannelOutbox) {
    guard case .connected = state else { return close(now: now, into: &outbox) }
    hasShutDown = true
    association.shutDown()
    finishStep(now, into: &outbox)
  }

  // MARK: Channels

  /// Makes a channel; it can be used after `opened`.
  package mutating func open(
    _ parameters: DataChannelParameters, now: Timestamp, into outbox: inout DataChannelOutbox
  ) throws(DataChannelError) -> DataChannelHandle {
    if case .ended = state { throw .ended }
    guard parameters.label.utf8.count <= 65_535, parameters.protocol.utf8.count <= 65_535 else { throw .labelTooLong }
    if let stream = parameters.negotiatedStream {
      guard Int(stream.value) < usableStreams, handles[stream] == nil else { throw .noStream }
    }
    guard channels.count < usableStreams else { throw .noStream }
    let handle = add(Channel(parameters: parameters, stream: parameters.negotiatedStream))
    if case .connected = state {
      guard begin(handle, into: &outbox) else {
        channels[handle] = nil
        throw .noStream
      }
      finishStep(now, into: &outbox)
    }
    return handle
  }

  /// Queues a message.
  package mutating func send(
    _ message: DataChannelMessage, on handle: DataChannelHandle, now: Timestamp, into outbox: inout DataChannelOutbox
  ) throws(DataChannelError) {
    guard let channel = channels[handle] else { throw .unknownChannel }
    guard channel.state == .open, let stream = channel.stream else { throw .notOpen }
    let size = message.size
    guard size <= maximumOutgoingMessageSize else { throw .messageTooLong(limit: maximumOutgoingMessageSize) }
    guard association.bufferedAmount(of: stream) + size <= options.maximumBufferedAmount else { throw .bufferFull }
    guard enqueue(message, of: channel, on: stream, now: now) else { throw .notOpen }
    // So that a message which is sent at once counts as having waited.
    channels[handle]?.bufferedAmount = association.bufferedAmount(of: stream)
    association.refillBurstIfIdle(now)
    finishStep(now, into: &outbox)
  }

  /// Closes a channel once what waits has been sent (RFC 8831 §6.7); `closed` follows when both sides have.
  package mutating func close(
    _ handle: DataChannelHandle, now: Timestamp, into outbox: inout DataChannelOutbox
  ) throws(DataChannelError) {
    guard let channel = channels[handle] else { throw .unknownChannel }
    switch channel.phase {
    case .waiting: remove(handle, into: &outbox)
    case .unacknowledged, .open:
      channels[handle]?.phase = .draining(peerHasReset: false)
      leaving.insert(handle)
      finishStep(now, into: &outbox)
    case .draining, .resetting: break
    }
  }

  /// Stops or resumes the delivery of messages. Messages that arrive meanwhile stay in SCTP's receive buffer; when it
  /// is full, the peer must wait. Channels do not open or close meanwhile either.
  package mutating func setReceiving(_ isOn: Bool, now: Timestamp, into outbox: inout DataChannelOutbox) {
    takesMessages = isOn
    finishStep(now, into: &outbox)
  }

  /// Takes what a rate control outside of SCTP has measured of the path, so that losses that are no congestion do not
  /// starve the channels.
  /// - Parameters:
  ///   - rate: what the path carries beside everything that is not of the channels; zero: unknown. SCTP's own window may
  ///     allow more.
  ///   - roundTrip: the round-trip time of the path.
  ///   - loss: the share of lost packets, 0…1; from 1 % on, short bursts are sent twice, from 5 % three times.
  package mutating func setPath(rate: BitRate, roundTrip: TimeDelta, loss: Double) {
    association.setPath(rate: rate, roundTrip: roundTrip, loss: loss)
  }

  // MARK: Looking

  /// The state of the channel; `closed` for a handle without one.
  package func state(of handle: DataChannelHandle) -> DataChannelState { channels[handle]?.state ?? .closed }
  /// The stream that the channel runs on; nil before it has one and for a handle without a channel.
  package func stream(of handle: DataChannelHandle) -> StreamID? { channels[handle]?.stream }
  /// The parameters of the channel; nil for a handle without a channel.
  package func parameters(of handle: DataChannelHandle) -> DataChannelParameters? { channels[handle]?.parameters }
  /// Bytes of messages that have not been sent yet (W3C `bufferedAmount`).
  package func bufferedAmount(of handle: DataChannelHandle) -> Int {
    channels[handle]?.stream.map { association.bufferedAmount(of: $0) } ?? 0
  }
  /// The number of received packets that are invalid in SCTP, for tests.
  package var brokenPackets: Int { association.violations }
  /// The fragments and messages that were looked at to put messages together, for tests.
  package var reassemblySteps: Int { association.reassembly.steps }
  /// The longest message `send` takes; meaningful once started.
  package var maximumOutgoingMessageSize: Int { min(remoteMaximumMessageSize, options.sendBuffer) }

  /// Sets the threshold of `bufferedAmountLow`; 0 at first.
  package mutating func setBufferedAmountLowThreshold(_ bytes: Int, of handle: DataChannelHandle) {
    channels[handle]?.lowThreshold = max(0, bytes)
  }

  // MARK: Procedures

  /// True between the start and the end.
  var isRunning: Bool {
    switch state {
    case .connecting, .connected: true
    case .idle, .ended: false
    }
  }

  mutating func add(_ channel: Channel) -> DataChannelHandle {
    nextHandle += 1
    let handle = DataChannelHandle(nextHandle)
    channels[handle] = channel
    if let stream = channel.stream { handles[stream] = handle }
    return handle
  }

  /// Handles received messages, sends waiting ones, and reports both.
  mutating func finishStep(_ now: Timestamp, into outbox: inout DataChannelOutbox) {
    receiveAll(now, into: &outbox)
    association.flush(now: now)
    // `flush` may have ended the association.
    receiveAll(now, into: &outbox)
    outbox.packets.move(from: &association.builder.packets)
    guard isRunning else { return }
    announceAmounts(into: &outbox)
    guard !leaving.isEmpty else { return }
    finishDraining()
    association.flush(now: now)
    outbox.packets.move(from: &association.builder.packets)
  }

  /// Channels whose last message has been sent begin their reset.
  private mutating func finishDraining() {
    for handle in leaving.sorted(by: { $0.value < $1.value }) {
      guard let channel = channels[handle], case .draining(let peerHasReset) = channel.phase,
        let stream = channel.stream
      else {
        leaving.remove(handle)
        continue
      }
      guard !association.sendQueue.hasMessages(of: stream) else { continue }
      leaving.remove(handle)
      channels[handle]?.phase = .resetting(isOursDone: false, isTheirsDone: peerHasReset)
      association.resetOutgoing([stream])
    }
  }

  mutating func end(_ reason: DataChannelEnd, into outbox: inout DataChannelOutbox) {
    if case .ended = state { return }
    state = .ended
    outbox.packets.move(from: &association.builder.packets)
    for handle in channels.keys.sorted(by: { $0.value < $1.value }) { remove(handle, into: &outbox) }
    (refused, leaving) = ([], [])
    outbox.events.append(.ended(reason))
  }

  mutating func remove(_ handle: DataChannelHandle, into outbox: inout DataChannelOutbox) {
    guard let channel = channels.removeValue(forKey: handle) else { return }
    leaving.remove(handle)
    if let stream = channel.stream, handles[stream] == handle { handles[stream] = nil }
    if channel.isCountedName { nameBytes -= channel.parameters.nameSize }
    outbox.events.append(.closed(handle))
  }
}
