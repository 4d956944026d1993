import RTCPrimitives
import RTCWire

extension DataChannelTransport {
  mutating func receiveAll(_ now: Timestamp, into outbox: inout DataChannelOutbox) {
    while takesMessages, isRunning, let event = association.nextEvent() {
      switch event {
      case .connected(let streams): connected(streams: streams, into: &outbox)
      case .message(let stream, let payload, let bytes): receive(bytes, payload, on: stream, into: &outbox)
      case .overlongMessage(let stream): refuseMessage(on: stream)
      case .aborted: end(.closedByPeer, into: &outbox)
      case .shutDown: end(hasShutDown ? .closedHere : .closedByPeer, into: &outbox)
      case .lost: end(.timeout, into: &outbox)
      case .outgoingReset(let streams, let failed):
        for stream in streams { ourSideReset(stream, failed: failed, into: &outbox) }
      case .incomingReset(let streams):
        // Handles, being numbered, have an order that does not change from one run to the next.
        let all = streams.isEmpty ? handles.sorted { $0.value.value < $1.value.value }.map(\.key) : streams
        for stream in all { theirSideReset(stream, into: &outbox) }
        if streams.isEmpty { refused = [] }
      }
    }
  }

  private mutating func connected(streams: Int, into outbox: inout DataChannelOutbox) {
    guard case .connecting = state else { return }
    state = .connected
    usableStreams = min(usableStreams, streams)
    outbox.events.append(.connected)
    for handle in channels.keys.sorted(by: { $0.value < $1.value }) where !begin(handle, into: &outbox) {
      remove(handle, into: &outbox)
    }
  }

  // MARK: Messages

  private mutating func receive(
    _ bytes: [UInt8], _ payload: UInt32, on stream: StreamID, into outbox: inout DataChannelOutbox
  ) {
    let payload = PayloadProtocol(rawValue: payload)
    if let handle = handles[stream] { return deliver(bytes, payload, to: handle, into: &outbox) }
    if payload == .control, !refused.contains(stream) {
      receiveOpen(bytes, stream, into: &outbox)
    } else {
      violations += 1
    }
  }

  /// A message was longer than allowed: its channel goes.
  private mutating func refuseMessage(on stream: StreamID) {
    violations += 1
    if let handle = handles[stream] { closeFromHere(handle) }
  }

  private mutating func deliver(
    _ message: [UInt8], _ payload: PayloadProtocol?, to handle: DataChannelHandle,
    into outbox: inout DataChannelOutbox
  ) {
    guard let channel = channels[handle] else { return }
    if case .waiting = channel.phase { return }
    // Data has the effect of an acknowledgement (RFC 8832 §6).
    if case .unacknowledged = channel.phase { channels[handle]?.phase = .open }
    switch payload {
    case .control:
      if DataChannelAck(parsing: message.span) == nil { violations += 1 }
    case .string: outbox.events.append(.message(handle, .text(String(decoding: message, as: UTF8.self))))
    case .emptyString: outbox.events.append(.message(handle, .text("")))
    case .binary: outbox.events.append(.message(handle, .binary(message)))
    case .emptyBinary: outbox.events.append(.message(handle, .binary([])))
    case nil: violations += 1
    }
  }

  private mutating func receiveOpen(
    _ message: [UInt8], _ stream: StreamID, into outbox: inout DataChannelOutbox
  ) {
    let isTheirs = (stream.value % 2 == 0) != isClient
    guard let open = DataChannelOpen(parsing: message.span), isTheirs, Int(stream.value) < usableStreams,
      nameBytes + open.label.utf8.count + open.protocol.utf8.count <= options.maximumNameBytes
    else {
      violations += 1
      guard Int(stream.value) < usableStreams else { return }
      refused.insert(stream)
      return association.resetOutgoing([stream])
    }
    var channel = Channel(parameters: DataChannelParameters(open), stream: stream)
    channel.phase = .open
    channel.isCountedName = true
    nameBytes += channel.parameters.nameSize
    let handle = add(channel)
    outbox.events.append(.incoming(handle, channel.parameters))
    sendControl(Self.bytes(size: DataChannelAck.size) { DataChannelAck().write(into: &$0) }, on: stream)
  }

  // MARK: Resets

  private mutating func ourSideReset(_ stream: StreamID, failed: Bool, into outbox: inout DataChannelOutbox) {
    guard let handle = handles[stream], case .resetting(_, let isTheirsDone) = channels[handle]?.phase else { return }
    // A peer that cannot reset streams leaves it at that.
    if isTheirsDone || failed { return remove(handle, into: &outbox) }
    channels[handle]?.phase = .resetting(isOursDone: true, isTheirsDone: false)
  }

  private mutating func theirSideReset(_ stream: StreamID, into outbox: inout DataChannelOutbox) {
    // Forgotten when the peer has closed its side too, so that the number may be used again.
    if refused.remove(stream) != nil { return }
    guard let handle = handles[stream] else { return }
    switch channels[handle]?.phase {
    case .resetting(isOursDone: true, _): remove(handle, into: &outbox)
    case .resetting(isOursDone: false, _):
      channels[handle]?.phase = .resetting(isOursDone: false, isTheirsDone: true)
    case .draining: channels[handle]?.phase = .draining(peerHasReset: true)
    case .unacknowledged, .open:
      // The peer reads no more: what waits for it is dropped.
      channels[handle]?.phase = .draining(peerHasReset: true)
      outbox.events.append(.closing(handle))
      closeFromHere(handle)
    case .waiting, nil: break
    }
  }
}
