import RTCPrimitives
import RTCWire

extension DataChannelTransport {
  mutating func receiveAll(_ now: Timestamp, into outbox: inout DataChannelOutbox) {
    while takesMessages, let association, let incoming = association.receive(now: now) {
      switch incoming {
      case .data(let stream, let payload, let count, let isLast):
        receive(association, stream, payload, count: count, isLast: isLast, now, into: &outbox)
      case .up(let streams): connected(association, streams: streams, now, into: &outbox)
      case .restarted:
        association.abort(now: now)
        outbox.packets.move(from: &association.packets)
        end(.closedByPeer, into: &outbox)
      case .shut: end(.closedByPeer, into: &outbox)
      case .lost:
        // Nothing tells an abort from silence but whether the peer was just heard.
        outbox.packets.move(from: &association.packets)
        end(wasJustHeard(now) ? .closedByPeer : .timeout, into: &outbox)
      case .reset(let report): streamsReset(report, now, into: &outbox)
      case .other: break
      }
    }
  }

  private mutating func connected(
    _ association: SCTPAssociation, streams: Int, _ now: Timestamp, into outbox: inout DataChannelOutbox
  ) {
    guard case .connecting = state else { return }
    state = .connected(association)
    usableStreams = min(usableStreams, streams)
    outbox.events.append(.connected)
    for handle in channels.keys.sorted(by: { $0.value < $1.value }) where !begin(handle, now: now, into: &outbox) {
      remove(handle, into: &outbox)
    }
  }

  // MARK: Messages

  private mutating func receive(
    _ association: SCTPAssociation, _ stream: StreamID, _ payload: UInt32, count: Int, isLast: Bool, _ now: Timestamp,
    into outbox: inout DataChannelOutbox
  ) {
    let payload = PayloadProtocol(rawValue: payload)
    guard let handle = handles[stream], var channel = channels.removeValue(forKey: handle) else {
      // An OPEN comes in one piece if it is not longer than the scratch buffer, else it is not wanted.
      if payload == .control, isLast, !refused.contains(stream) {
        receiveOpen(Array(association.scratch[..<count]), stream, now, into: &outbox)
      } else {
        violations += 1
      }
      return
    }
    let message = collect(association.scratch[..<count], isLast: isLast, in: &channel)
    channels[handle] = channel
    if case .overlong = channel.partial {
      if isLast { channels[handle]?.partial = .none }
      violations += 1
      return closeFromHere(handle)
    }
    guard partialBytes <= 2 * options.maximumMessageSize else {
      association.abort(now: now)
      outbox.packets.move(from: &association.packets)
      return end(.peerExceededLimits, into: &outbox)
    }
    guard let message else { return }
    deliver(message, payload, to: handle, into: &outbox)
  }

  /// Adds a piece; the whole message when it is complete and not too long.
  private mutating func collect(_ piece: ArraySlice<UInt8>, isLast: Bool, in channel: inout Channel) -> [UInt8]? {
    switch channel.partial {
    case .none:
      guard piece.count <= options.maximumMessageSize else {
        channel.partial = .overlong
        return nil
      }
      if isLast { return Array(piece) }
      channel.partial = .collecting(Array(piece))
      partialBytes += piece.count
      return nil
    case .collecting(var bytes):
      partialBytes -= bytes.count
      channel.partial = .none  // so that the array is ours alone
      guard bytes.count + piece.count <= options.maximumMessageSize else {
        channel.partial = .overlong
        return nil
      }
      bytes.append(contentsOf: piece)
      if isLast { return bytes }
      partialBytes += bytes.count
      channel.partial = .collecting(bytes)
      return nil
    case .overlong: return nil
    }
  }

  private mutating func deliver(
    _ message: [UInt8], _ payload: PayloadProtocol?, to handle: DataChannelHandle,
    into outbox: inout DataChannelOutbox
  ) {
    guard let channel = channels[handle] else { return }
    if case .waiting = channel.phase { return }
    // Data tells as much as an acknowledgement (RFC 8832 §6).
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
    _ message: [UInt8], _ stream: StreamID, _ now: Timestamp, into outbox: inout DataChannelOutbox
  ) {
    let isTheirs = (stream.value % 2 == 0) != isClient
    guard let open = DataChannelOpen(parsing: message.span), isTheirs, Int(stream.value) < usableStreams,
      nameBytes + open.label.utf8.count + open.protocol.utf8.count <= options.maximumNameBytes
    else {
      violations += 1
      guard Int(stream.value) < usableStreams else { return }
      refused.insert(stream)
      return resets.append(stream)
    }
    var channel = Channel(parameters: DataChannelParameters(open), stream: stream)
    channel.phase = .open
    channel.isCountedName = true
    nameBytes += channel.parameters.nameSize
    let handle = add(channel)
    outbox.events.append(.incoming(handle, channel.parameters))
    enqueue(
      Self.bytes(size: DataChannelAck.size) { DataChannelAck().write(into: &$0) }, .control, size: 0, on: handle,
      now: now)
  }

  // MARK: Resets

  private mutating func streamsReset(
    _ report: SCTPAssociation.ResetReport, _ now: Timestamp, into outbox: inout DataChannelOutbox
  ) {
    let streams = report.streams.isEmpty ? Array(handles.keys) : report.streams
    for stream in streams {
      if refused.contains(stream) {
        // Forgotten when the peer has closed its side too, so that the number may be used again.
        if report.sides.contains(.incoming) { refused.remove(stream) }
        continue
      }
      guard let handle = handles[stream] else { continue }
      if report.sides.contains(.outgoing) { ourSideReset(handle, failed: report.failed, into: &outbox) }
      if report.sides.contains(.incoming), !report.failed { theirSideReset(handle, into: &outbox) }
    }
  }

  private mutating func ourSideReset(
    _ handle: DataChannelHandle, failed: Bool, into outbox: inout DataChannelOutbox
  ) {
    guard case .resetting(_, let isTheirsDone) = channels[handle]?.phase else { return }
    // A peer that cannot reset streams leaves it at that.
    if isTheirsDone || failed { return remove(handle, into: &outbox) }
    channels[handle]?.phase = .resetting(isOursDone: true, isTheirsDone: false)
  }

  private mutating func theirSideReset(_ handle: DataChannelHandle, into outbox: inout DataChannelOutbox) {
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
