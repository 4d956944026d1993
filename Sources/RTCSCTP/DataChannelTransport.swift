package import RTCPrimitives
import RTCWire

/// The data channels of one peer connection (RFC 8831, RFC 8832) over one SCTP association.
///
/// Sans-IO: packets (contents of DTLS records) and the time come in as arguments; packets and events leave through the
/// outbox. Its SCTP shares nothing with any other, so many may live in a process. Owned by one thread.
package struct DataChannelTransport: ~Copyable {
  enum State {
    case idle
    case connecting(SCTPAssociation)
    case connected(SCTPAssociation)
    case ended
  }

  /// usrsctp does not say when its next timer is due: looked after this often while something is under way …
  private static let busyInterval = TimeDelta.milliseconds(10)
  /// … and this often otherwise (heartbeats every 30 s).
  private static let restInterval = TimeDelta.seconds(1)
  /// A delayed acknowledgement may be due for so long after a packet has come.
  private static let settlingTime = TimeDelta.milliseconds(500)

  /// When `advance` must be called; `distantFuture` before the start and after the end.
  package internal(set) var nextDeadline = Timestamp.distantFuture
  /// The limits and sizes that the transport was made with.
  package let options: DataChannelOptions
  /// What the peer did that no channel could carry: messages on streams without one, malformed control messages,
  /// refused channels, overlong messages.
  package internal(set) var violations = 0

  var state = State.idle
  var channels: [DataChannelHandle: Channel] = [:]
  var handles: [StreamID: DataChannelHandle] = [:]
  /// Channels with something to send, in the order of their turns.
  var turns: [DataChannelHandle] = []
  /// Streams whose outgoing side is to be reset as soon as SCTP takes the request.
  var resets: [StreamID] = []
  /// Channels that close: what waits in them is sent, or the reset of their stream is under way.
  var leaving: Set<DataChannelHandle> = []
  /// False while the owner cannot take more; SCTP then holds the peer back.
  var takesMessages = true
  /// Streams of channels that the peer may not have; no channel of ours is on them.
  var refused: Set<StreamID> = []
  var nameBytes = 0
  var partialBytes = 0
  var usableStreams: Int
  var isClient = false
  var remoteMaximumMessageSize = 0
  private var nextHandle: UInt64 = 0
  private var lastInput = Timestamp.zero

  /// A transport that is not connected; `start` connects it.
  package init(options: DataChannelOptions = DataChannelOptions()) {
    self.options = options
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
    let association: SCTPAssociation
    do throws(SCTPError) {
      association = try SCTPAssociation(
        SCTPAssociation.Options(
          seed: seed, localPort: localPort, remotePort: remotePort, streams: options.maximumStreams,
          packetSize: options.packetSize, sendBuffer: options.sendBuffer, receiveBuffer: options.receiveBuffer),
        now: now)
    } catch {
      return end(.unavailable(error), into: &outbox)
    }
    self.isClient = isClient
    self.remoteMaximumMessageSize = Int(min(remoteMaximumMessageSize ?? .max, UInt64(Int.max)))
    state = .connecting(association)
    guard association.connect(now: now) else { return end(.timeout, into: &outbox) }
    finishStep(now, into: &outbox)
  }

  /// Takes one packet from the peer. What is not SCTP, or not of this association, is ignored.
  package mutating func handle(_ packet: Span<UInt8>, now: Timestamp, into outbox: inout DataChannelOutbox) {
    // The common header and one chunk's, in whole words (RFC 9260 §3).
    guard let association, packet.count >= 16, packet.count <= 65_535 else { return }
    lastInput = now
    association.input(packet, now: now)
    finishStep(now, into: &outbox)
  }

  /// Runs what is due by `now`.
  package mutating func advance(now: Timestamp, into outbox: inout DataChannelOutbox) {
    guard let association else { return }
    association.advance(now: now)
    finishStep(now, into: &outbox)
  }

  /// Aborts the association, and with it every channel; for the end of the peer connection.
  package mutating func close(now: Timestamp, into outbox: inout DataChannelOutbox) {
    if case .idle = state, channels.isEmpty {
      // Nobody ever knew of it.
      state = .ended
      return
    }
    if let association {
      association.abort(now: now)
      outbox.packets.move(from: &association.packets)
    }
    end(.closedHere, into: &outbox)
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
      guard begin(handle, now: now, into: &outbox) else {
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
    guard channel.state == .open else { throw .notOpen }
    let size = message.size
    guard size <= maximumOutgoingMessageSize else { throw .messageTooLong(limit: maximumOutgoingMessageSize) }
    guard channel.bufferedAmount + size <= options.maximumBufferedAmount else { throw .bufferFull }
    let (bytes, payload): ([UInt8], PayloadProtocol) =
      switch message {
      case .text(let text): size == 0 ? ([0], .emptyString) : (Array(text.utf8), .string)
      case .binary(let bytes): size == 0 ? ([0], .emptyBinary) : (bytes, .binary)
      }
    enqueue(bytes, payload, size: size, on: handle, now: now)
    finishStep(now, into: &outbox)
    announceAmount(of: handle, into: &outbox)
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

  /// Stops handing on messages, or goes on with it. What comes meanwhile stays in SCTP's receive buffer; when that is
  /// full the peer must wait. Channels open and close no more either while it rests.
  package mutating func setReceiving(_ isOn: Bool, now: Timestamp, into outbox: inout DataChannelOutbox) {
    takesMessages = isOn
    finishStep(now, into: &outbox)
  }

  // MARK: Looking

  /// The state of the channel; `closed` for a handle without one.
  package func state(of handle: DataChannelHandle) -> DataChannelState { channels[handle]?.state ?? .closed }
  /// The stream that the channel runs on; nil before it has one and for a handle without a channel.
  package func stream(of handle: DataChannelHandle) -> StreamID? { channels[handle]?.stream }
  /// What the channel was opened with; nil for a handle without a channel.
  package func parameters(of handle: DataChannelHandle) -> DataChannelParameters? { channels[handle]?.parameters }
  /// Bytes of messages that SCTP has not taken yet; it takes up to `DataChannelOptions.sendBuffer` in all.
  package func bufferedAmount(of handle: DataChannelHandle) -> Int { channels[handle]?.bufferedAmount ?? 0 }
  /// The longest message `send` takes; meaningful once started.
  package var maximumOutgoingMessageSize: Int { min(remoteMaximumMessageSize, options.sendBuffer) }

  /// Where `bufferedAmountLow` is said; 0 at first.
  package mutating func setBufferedAmountLowThreshold(_ bytes: Int, of handle: DataChannelHandle) {
    channels[handle]?.lowThreshold = max(0, bytes)
  }

  // MARK: Procedures

  var association: SCTPAssociation? {
    switch state {
    case .connecting(let association), .connected(let association): association
    case .idle, .ended: nil
    }
  }

  mutating func add(_ channel: Channel) -> DataChannelHandle {
    nextHandle += 1
    let handle = DataChannelHandle(nextHandle)
    channels[handle] = channel
    if let stream = channel.stream { handles[stream] = handle }
    return handle
  }

  /// Takes in what has come, sends what waits, and says when to come again.
  mutating func finishStep(_ now: Timestamp, into outbox: inout DataChannelOutbox) {
    receiveAll(now, into: &outbox)
    flush(now, into: &outbox)
    guard let association else { return }
    outbox.packets.move(from: &association.packets)
    nextDeadline = now + (isBusy(association, now) ? Self.busyInterval : Self.restInterval)
  }

  mutating func announceAmount(of handle: DataChannelHandle, into outbox: inout DataChannelOutbox) {
    guard let channel = channels[handle], channel.bufferedAmount != channel.announcedAmount else { return }
    channels[handle]?.announcedAmount = channel.bufferedAmount
    outbox.events.append(.bufferedAmountChanged(handle, channel.bufferedAmount))
  }

  /// Whether a packet came in this very step.
  func wasJustHeard(_ now: Timestamp) -> Bool { lastInput == now }

  private func isBusy(_ association: SCTPAssociation, _ now: Timestamp) -> Bool {
    guard case .connected = state else { return true }
    if !turns.isEmpty || !resets.isEmpty || now < lastInput + Self.settlingTime { return true }
    // Resets have timers of their own, which `isBusy` of the association does not show. A peer that never resets its
    // side keeps nothing awake.
    let waitsForReset = leaving.contains { handle in
      if case .resetting(isOursDone: true, _) = channels[handle]?.phase { false } else { true }
    }
    return waitsForReset || association.isBusy(now: now)
  }

  mutating func end(_ reason: DataChannelEnd, into outbox: inout DataChannelOutbox) {
    if case .ended = state { return }
    state = .ended
    nextDeadline = .distantFuture
    for handle in channels.keys.sorted(by: { $0.value < $1.value }) { remove(handle, into: &outbox) }
    (turns, resets, refused, leaving) = ([], [], [], [])
    outbox.events.append(.ended(reason))
  }

  mutating func remove(_ handle: DataChannelHandle, into outbox: inout DataChannelOutbox) {
    guard let channel = channels.removeValue(forKey: handle) else { return }
    leaving.remove(handle)
    if let stream = channel.stream, handles[stream] == handle { handles[stream] = nil }
    if channel.isCountedName { nameBytes -= channel.parameters.nameSize }
    if case .collecting(let bytes) = channel.partial { partialBytes -= bytes.count }
    outbox.events.append(.closed(handle))
  }
}
