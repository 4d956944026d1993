package import RTCPrimitives
package import RTCSCTP

/// The data channels of a peer: SCTP over DTLS (RFC 8261). Every step sends SCTP's packets over the transport, and
/// reports events.
package struct DataChannels: ~Copyable {
  /// Nil: there are none to be had.
  private let options: DataChannelOptions?
  private let seed: UInt64
  private var association: DataChannelTransport
  /// Bytes that were sent since they were last asked about.
  private var sentBytes = 0
  /// The results of a step of the association; empty between steps.
  private var left = DataChannelOutbox()

  package init(_ configuration: PeerConfiguration) {
    options = configuration.dataChannels
    association = DataChannelTransport(options: configuration.dataChannels ?? DataChannelOptions())
    var random = SeededGenerator(seed: configuration.seed &+ 1)
    seed = random.next()
  }

  /// When `deadlineReached` must be called.
  package var nextDeadline: Timestamp { association.nextDeadline }

  /// Bytes of SCTP packets that left since the last call.
  package mutating func takeSentBytes() -> Int {
    defer { sentBytes = 0 }
    return sentBytes
  }

  /// See `DataChannelTransport.setPath`.
  package mutating func setPath(rate: BitRate, roundTrip: TimeDelta, loss: Double) {
    association.setPath(rate: rate, roundTrip: roundTrip, loss: loss)
  }

  // MARK: - The association

  /// Begins to connect, when the transport is secured; calling it again does nothing.
  package mutating func start(
    _ agreed: NegotiatedDataChannels, isClient: Bool, now: Timestamp, over transport: inout Transport,
    into outbox: inout Outbox
  ) {
    association.start(
      isClient: isClient, localPort: agreed.localPort, remotePort: agreed.remotePort,
      remoteMaximumMessageSize: agreed.remoteMaximumMessageSize, seed: seed, now: now, into: &left)
    flush(over: &transport, into: &outbox)
  }

  /// The m-section was turned off: all channels end, and the next such m-section is a new beginning.
  package mutating func turnOff(now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    close(now: now, over: &transport, into: &outbox)
    association = DataChannelTransport(options: options ?? DataChannelOptions())
  }

  /// Aborts the association, so that the remote peer need not find out by silence.
  package mutating func close(now: Timestamp, over transport: inout Transport, into outbox: inout Outbox) {
    association.close(now: now, into: &left)
    flush(over: &transport, into: &outbox)
  }

  package mutating func receive(
    _ packet: [UInt8], now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    association.handle(packet.span, now: now, into: &left)
    flush(over: &transport, into: &outbox)
  }

  package mutating func deadlineReached(
    _ now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) {
    association.advance(now: now, into: &left)
    flush(over: &transport, into: &outbox)
  }

  // MARK: - Channels

  /// - Returns: the new channel, of `.open`; nil of every other command.
  /// - Throws: when the channel cannot be made or takes no message now.
  package mutating func perform(
    _ command: DataChannelCommand, now: Timestamp, over transport: inout Transport, into outbox: inout Outbox
  ) throws(DataChannelError) -> DataChannelHandle? {
    defer { flush(over: &transport, into: &outbox) }
    switch command {
    case .open(let parameters):
      guard options != nil else { throw .unavailable }
      return try association.open(parameters, now: now, into: &left)
    case .send(let message, let handle): try association.send(message, on: handle, now: now, into: &left)
    case .close(let handle):
      // A channel that is gone already needs no closing.
      try? association.close(handle, now: now, into: &left)
    case .setBufferedAmountLowThreshold(let bytes, let handle):
      association.setBufferedAmountLowThreshold(bytes, of: handle)
    case .setReceiving(let isOn): association.setReceiving(isOn, now: now, into: &left)
    }
    return nil
  }

  /// The number of a channel's stream; nil until the association stands, for channels that are not negotiated.
  package func stream(of handle: DataChannelHandle) -> StreamID? { association.stream(of: handle) }
  /// Bytes of messages that wait in a channel.
  package func bufferedAmount(of handle: DataChannelHandle) -> Int { association.bufferedAmount(of: handle) }
  /// The longest message the remote peer takes, in bytes; meaningful once the association stands.
  package var maximumOutgoingMessageSize: Int { association.maximumOutgoingMessageSize }

  /// Sends the packets and reports the events of the last step.
  private mutating func flush(over transport: inout Transport, into outbox: inout Outbox) {
    for index in 0..<left.packets.count {
      sentBytes += left.packets.packet(index).count
      transport.sendData(left.packets.packet(index), into: &outbox.datagrams)
    }
    for event in left.events { outbox.events.append(.dataChannel(event)) }
    left.removeAll()
  }
}
