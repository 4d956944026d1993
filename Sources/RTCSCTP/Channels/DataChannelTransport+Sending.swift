import RTCPrimitives
import RTCWire

extension DataChannelTransport {
  /// Assigns a stream to the channel and announces it to the peer; false if no stream is free.
  mutating func begin(_ handle: DataChannelHandle, into outbox: inout DataChannelOutbox) -> Bool {
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
      sendControl(Self.bytes(size: open.size) { open.write(into: &$0) }, on: stream)
    }
    outbox.events.append(.opened(handle))
    return true
  }

  /// Queues a message of RFC 8832: reliable, in order, and not counted as the application's.
  mutating func sendControl(_ bytes: [UInt8], on stream: StreamID) {
    let message = OutgoingMessage(
      bytes: bytes, payloadProtocol: PayloadProtocol.control.rawValue, isUnordered: false, bufferedSize: 0)
    _ = association.send(message, on: stream, priority: 256)
  }

  /// Queues a message of the application.
  mutating func enqueue(_ message: DataChannelMessage, of channel: Channel, on stream: StreamID, now: Timestamp) -> Bool
  {
    let size = message.size
    let (bytes, payload): ([UInt8], PayloadProtocol) =
      switch message {
      case .text(let text): size == 0 ? ([0], .emptyString) : (Array(text.utf8), .string)
      case .binary(let bytes): size == 0 ? ([0], .emptyBinary) : (bytes, .binary)
      }
    // Until the channel is acknowledged nothing may overtake the OPEN (RFC 8832 §6).
    let isAcknowledged = if case .open = channel.phase { true } else { false }
    var outgoing = OutgoingMessage(
      bytes: bytes, payloadProtocol: payload.rawValue,
      isUnordered: !channel.parameters.isOrdered && isAcknowledged, bufferedSize: size)
    switch channel.parameters.reliability {
    case .reliable: break
    case .maximumRetransmissions(let count): outgoing.maximumRetransmissions = count
    // Sent once at least, if it can be at once.
    case .maximumLifetime(let milliseconds): outgoing.expiry = now + .milliseconds(Int64(max(1, milliseconds)))
    }
    return association.send(outgoing, on: stream, priority: channel.parameters.priority)
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

  // MARK: Buffered amounts

  /// Reports changed buffered amounts.
  mutating func announceAmounts(into outbox: inout DataChannelOutbox) {
    for stream in association.sendQueue.takeTouched() {
      guard let handle = handles[stream], let before = channels[handle]?.bufferedAmount else { continue }
      let amount = association.bufferedAmount(of: stream)
      channels[handle]?.bufferedAmount = amount
      if channels[handle]?.announcedAmount != amount {
        channels[handle]?.announcedAmount = amount
        outbox.events.append(.bufferedAmountChanged(handle, amount))
      }
      let threshold = channels[handle]?.lowThreshold ?? 0
      if before > threshold, amount <= threshold { outbox.events.append(.bufferedAmountLow(handle)) }
    }
  }

  // MARK: Closing

  /// Closes without sending what waits.
  mutating func closeFromHere(_ handle: DataChannelHandle) {
    guard var channel = channels.removeValue(forKey: handle), let stream = channel.stream else { return }
    association.sendQueue.discard(stream)
    switch channel.phase {
    case .waiting, .unacknowledged, .open, .draining(peerHasReset: false):
      channel.phase = .resetting(isOursDone: false, isTheirsDone: false)
      association.resetOutgoing([stream])
    case .draining(peerHasReset: true):
      channel.phase = .resetting(isOursDone: false, isTheirsDone: true)
      association.resetOutgoing([stream])
    case .resetting: break
    }
    channels[handle] = channel
  }
}
