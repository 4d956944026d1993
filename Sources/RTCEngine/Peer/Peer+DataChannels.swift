import RTCDTLS
import RTCPrimitives
public import RTCSCTP

/// What an application can ask of a peer's data channels.
public enum DataChannelCommand: Sendable {
  /// Makes a channel → `.dataChannelMade` or `.dataChannelRefused`. It can be used after `DataChannelEvent.opened`. When no
  /// description has an m-section for channels yet, the next offer will.
  case open(DataChannelParameters)
  /// Queues a message; `.messageRefused` if that cannot be.
  case send(DataChannelMessage, DataChannelHandle)
  /// Sends what waits and closes → `DataChannelEvent.closed` when both sides have.
  case close(DataChannelHandle)
  /// Where `DataChannelEvent.bufferedAmountLow` is said, in bytes.
  case setBufferedAmountLowThreshold(Int, DataChannelHandle)
  /// False: nothing more is handed on, and the far side must wait; true: on with it.
  case setReceiving(Bool)
}

/// The data channels of a peer: SCTP in DTLS (RFC 8261).
struct PeerDataChannels: ~Copyable {
  var transport: DataChannelTransport
  /// What a step of the transport left; empty between steps of the peer.
  var outbox = DataChannelOutbox()
  let seed: UInt64

  init(_ configuration: PeerConfiguration) {
    transport = DataChannelTransport(options: configuration.dataChannels ?? DataChannelOptions())
    var random = SeededGenerator(seed: configuration.seed &+ 1)
    seed = random.next()
  }
}

extension Peer {
  mutating func perform(_ command: DataChannelCommand, now: Timestamp, into outbox: inout Outbox) {
    switch command {
    case .open(let parameters): open(parameters, now: now, into: &outbox)
    case .send(let message, let handle):
      do throws(DataChannelError) {
        try channels.transport.send(message, on: handle, now: now, into: &channels.outbox)
      } catch {
        outbox.events.append(.messageRefused(handle, error))
      }
    case .close(let handle):
      // One that is gone already needs no closing.
      try? channels.transport.close(handle, now: now, into: &channels.outbox)
    case .setBufferedAmountLowThreshold(let bytes, let handle):
      channels.transport.setBufferedAmountLowThreshold(bytes, of: handle)
    case .setReceiving(let isOn): channels.transport.setReceiving(isOn, now: now, into: &channels.outbox)
    }
    flushDataChannels(into: &outbox)
  }

  private mutating func open(_ parameters: DataChannelParameters, now: Timestamp, into outbox: inout Outbox) {
    do throws(DataChannelError) {
      guard configuration.dataChannels != nil else { throw .unavailable }
      guard !isEnded else { throw .ended }
      let handle = try channels.transport.open(parameters, now: now, into: &channels.outbox)
      negotiation.dataChannels?.isWanted = true
      outbox.events.append(.dataChannelMade(handle, parameters))
      tellNegotiationNeed(into: &outbox)
    } catch {
      outbox.events.append(.dataChannelRefused(error))
    }
  }

  // MARK: - The transport

  /// Starts SCTP when there is an m-section for it and DTLS is through; ends it when its m-section was turned off.
  mutating func updateDataChannels(_ now: Timestamp, into outbox: inout Outbox) {
    guard !isEnded, let session = negotiation.session else { return }
    if let agreed = session.dataChannels {
      guard isSecured else { return }
      channels.transport.start(
        isClient: session.transport.dtlsRole == .client, localPort: agreed.localPort, remotePort: agreed.remotePort,
        remoteMaximumMessageSize: agreed.remoteMaximumMessageSize, seed: channels.seed, now: now,
        into: &channels.outbox)
      flushDataChannels(into: &outbox)
    } else if session.turnsOffDataChannels {
      channels.transport.close(now: now, into: &channels.outbox)
      flushDataChannels(into: &outbox)
      // The next m-section for channels is a new beginning.
      channels = PeerDataChannels(configuration)
      timers[.dataChannels] = .distantFuture
    }
  }

  mutating func receiveData(_ packet: [UInt8], now: Timestamp, into outbox: inout Outbox) {
    channels.transport.handle(packet.span, now: now, into: &channels.outbox)
    flushDataChannels(into: &outbox)
  }

  mutating func runDataChannels(_ now: Timestamp, into outbox: inout Outbox) {
    channels.transport.advance(now: now, into: &channels.outbox)
    flushDataChannels(into: &outbox)
  }

  /// Aborts the association, so that the far side need not find out by silence.
  mutating func closeDataChannels(_ now: Timestamp, into outbox: inout Outbox) {
    channels.transport.close(now: now, into: &channels.outbox)
    flushDataChannels(into: &outbox)
  }

  /// Sends and tells what the last step of the transport left.
  private mutating func flushDataChannels(into outbox: inout Outbox) {
    var left = DataChannelOutbox()
    swap(&left, &channels.outbox)
    // Without a path packets are lost, and sent again when there is one.
    if dtls != nil, let route = ice.selectedRoute {
      for index in 0..<left.packets.count {
        try? dtls!.send(left.packets.packet(index), route: route, into: &outbox.datagrams)
      }
    }
    for event in left.events { outbox.events.append(.dataChannel(event)) }
    left.removeAll()
    swap(&left, &channels.outbox)  // for its memory
    timers[.dataChannels] = channels.transport.nextDeadline
  }

  // MARK: - Looking

  /// The number of a channel's stream; nil until the association stands, for channels that are not negotiated.
  public func stream(of handle: DataChannelHandle) -> StreamID? { channels.transport.stream(of: handle) }
  /// Bytes of messages that wait in a channel.
  public func bufferedAmount(of handle: DataChannelHandle) -> Int { channels.transport.bufferedAmount(of: handle) }
  /// The longest message the far side takes; meaningful once the association stands.
  public var maximumOutgoingMessageSize: Int { channels.transport.maximumOutgoingMessageSize }
}
