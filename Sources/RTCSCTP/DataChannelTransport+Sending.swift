import RTCPrimitives
import RTCWire

extension DataChannelTransport {
  /// Gives the channel its stream, and tells the peer of it; false when no stream is free.
  mutating func begin(
    _ handle: DataChannelHandle, now: Timestamp, into outbox: inout DataChannelOutbox
  ) -> Bool {
    guard let channel = channels[handle] else { return false }
    if let stream = channel.stream {
      guard Int(stream.value) < usableStreams else { return false }
      channels[handle]?.phase = .open
    } else {
      guard let stream = freeStream() else { return false }
      handles[stream] = handle
      channels[handle]?.stream = stream
      channels[handle]?.phase = .unacknowledged
      let open = channel.parameters.openMessage
      enqueue(Self.bytes(size: open.size) { open.write(into: &$0) }, .control, size: 0, on: handle, now: now)
    }
    outbox.events.append(.opened(handle))
    return true
  }

  mutating func enqueue(
    _ bytes: [UInt8], _ payload: PayloadProtocol, size: Int, on handle: DataChannelHandle, now: Timestamp
  ) {
    guard var channel = channels.removeValue(forKey: handle) else { return }
    if !channel.hasWaiting { turns.append(handle) }
    channel.enqueue(Channel.Waiting(bytes: bytes, payload: payload, size: size, queuedAt: now))
    channels[handle] = channel
  }

  static func bytes(size: Int, _ write: (inout ByteWriter) -> Void) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: size)
    var writer = ByteWriter(bytes.mutableSpan)
    write(&writer)
    return bytes
  }

  /// The lowest free stream of our parity: even for the DTLS client (RFC 8832 §6).
  private func freeStream() -> StreamID? {
    for number in stride(from: isClient ? 0 : 1, to: usableStreams, by: 2) {
      let stream = StreamID(UInt16(number))
      if handles[stream] == nil, !refused.contains(stream) { return stream }
    }
    return nil
  }

  // MARK: Flushing

  mutating func flush(_ now: Timestamp, into outbox: inout DataChannelOutbox) {
    guard case .connected(let association) = state else { return }
    var isFull = false
    while !isFull, !turns.isEmpty {
      let handle = turns.removeFirst()
      guard var channel = channels.removeValue(forKey: handle) else { continue }
      let before = channel.bufferedAmount
      let outcome = sendTurn(&channel, association, now)
      if channel.bufferedAmount != before, channel.bufferedAmount != channel.announcedAmount {
        channel.announcedAmount = channel.bufferedAmount
        outbox.events.append(.bufferedAmountChanged(handle, channel.bufferedAmount))
      }
      if before > channel.lowThreshold, channel.bufferedAmount <= channel.lowThreshold {
        outbox.events.append(.bufferedAmountLow(handle))
      }
      channels[handle] = channel
      switch outcome {
      case .taken: if channel.hasWaiting { turns.append(handle) }
      case .full:
        turns.insert(handle, at: 0)
        isFull = true
      case .refused: closeFromHere(handle)
      }
    }
    finishDraining()
    requestResets(association, now)
  }

  /// One turn of a channel: some messages, as its priority says.
  private func sendTurn(
    _ channel: inout Channel, _ association: SCTPAssociation, _ now: Timestamp
  ) -> SCTPAssociation.SendOutcome {
    guard let stream = channel.stream else { return .taken }
    for _ in 0..<channel.turn where channel.hasWaiting {
      let message = channel.first
      let isControl = message.payload == .control
      let isOpen = if case .open = channel.phase { true } else { false }
      var (policy, limit) = (0, UInt32(0))
      if !isControl {
        switch channel.parameters.reliability {
        case .reliable: break
        case .maximumRetransmissions(let count): (policy, limit) = (1, count)
        case .maximumLifetime(let milliseconds):
          let left = Int64(milliseconds) - (now - message.queuedAt).milliseconds
          // Too late already, and never tried: RFC 8831 §6.6 lets the sender give up.
          guard left > 0 || message.queuedAt == now else {
            channel.removeFirst()
            continue
          }
          (policy, limit) = (2, UInt32(max(1, left)))
        }
      }
      let outcome = association.send(
        message.bytes, stream: stream, protocol: message.payload.rawValue,
        isOrdered: channel.parameters.isOrdered || isControl || !isOpen, policy: policy, limit: limit, now: now)
      guard case .taken = outcome else { return outcome }
      channel.removeFirst()
    }
    return .taken
  }

  // MARK: Closing

  /// Closes without sending what waits.
  mutating func closeFromHere(_ handle: DataChannelHandle) {
    guard var channel = channels.removeValue(forKey: handle), let stream = channel.stream else { return }
    channel.forgetWaiting()
    turns.removeAll { $0 == handle }
    switch channel.phase {
    case .waiting, .unacknowledged, .open, .draining(peerHasReset: false):
      channel.phase = .resetting(isOursDone: false, isTheirsDone: false)
      resets.append(stream)
    case .draining(peerHasReset: true):
      channel.phase = .resetting(isOursDone: false, isTheirsDone: true)
      resets.append(stream)
    case .resetting: break
    }
    leaving.insert(handle)
    channels[handle] = channel
  }

  /// Channels whose last message has been taken go on to their reset.
  private mutating func finishDraining() {
    for handle in leaving.sorted(by: { $0.value < $1.value }) {
      guard let channel = channels[handle], case .draining(let peerHasReset) = channel.phase, !channel.hasWaiting,
        let stream = channel.stream
      else { continue }
      channels[handle]?.phase = .resetting(isOursDone: false, isTheirsDone: peerHasReset)
      resets.append(stream)
    }
  }

  private mutating func requestResets(_ association: SCTPAssociation, _ now: Timestamp) {
    guard !resets.isEmpty else { return }
    switch association.resetOutgoing(resets, now: now) {
    case .taken, .refused: resets = []
    case .full: break
    }
  }
}
