import RTCPrimitives
import RTCWire

/// Receiving from the peer (RFC 9260 §8.5, §6).
extension SCTPAssociation {
  /// Takes one packet; packets of other associations are ignored. Take the events, then call `flush`.
  mutating func handle(_ bytes: Span<UInt8>, now: Timestamp) {
    if case .closed = state { return }
    guard let packet = SCTPPacket(parsing: bytes), packet.sourcePort == builder.remotePort,
      packet.destinationPort == builder.localPort, accepts(packet)
    else { return violations += 1 }
    var chunks = packet.chunks
    guard let first = chunks.next() else { return violations += 1 }
    if first.type == .initiation {
      // It comes without a tag, and alone (RFC 9260 §8.5.1 A).
      guard packet.verificationTag == 0, !chunks.hasRest else { return violations += 1 }
      return handleInitiation(first)
    }
    guard hasRightTag(packet, first) else { return violations += 1 }
    lastHeard = now
    refillBurst(now)
    handle(first, packet, now: now)
  }

  /// A zero checksum is allowed if negotiated; any other checksum must be correct (RFC 9653 §5.3).
  private func accepts(_ packet: SCTPPacket) -> Bool {
    packet.checksum == 0 && options.acceptsZeroChecksum || packet.hasCorrectChecksum
  }

  /// RFC 9260 §8.5.1.
  private func hasRightTag(_ packet: SCTPPacket, _ first: SCTPChunk) -> Bool {
    switch first.type {
    case .abort, .shutdownComplete:
      first.flags & SCTPChunk.reflectsTag == 0
        ? packet.verificationTag == localTag
        : peer.initiateTag != 0 && packet.verificationTag == peer.initiateTag
    case .cookieEcho:
      packet.verificationTag == localTag || packet.verificationTag == restarting?.localTag
    default: packet.verificationTag == localTag
    }
  }

  /// Goes through the packet's chunks, `first` and those after it.
  private mutating func handle(_ first: SCTPChunk, _ packet: SCTPPacket, now: Timestamp) {
    var chunks = packet.chunks
    var hasData = false
    var budget = PacketBudget()
    while let chunk = chunks.next() {
      switch chunk.type {
      case .data, .interleavedData: hasData = handleData(chunk, &budget, now: now) || hasData
      case .selectiveAck:
        if budget.take(\.acknowledgements) { handleSelectiveAck(chunk, now: now) } else { violations += 1 }
      case .forwardTSN, .interleavedForwardTSN:
        if budget.take(\.forwards) { handleForward(chunk, now: now) } else { violations += 1 }
      case .initiationAck: handleInitiationAck(chunk, now: now)
      case .cookieEcho: handleCookieEcho(chunk, tag: packet.verificationTag, now: now)
      case .cookieAck: handleCookieAck(now: now)
      case .heartbeat: answerHeartbeat(chunk, &budget)
      case .heartbeatAck: handleHeartbeatAck(chunk, now: now)
      case .reconfiguration: handleReconfiguration(chunk, &budget, now: now)
      case .abort: handleAbort()
      case .shutdown: handleShutdown(chunk, now: now)
      case .shutdownAck: handleShutdownAck()
      case .shutdownComplete: handleShutdownComplete()
      case .error: break
      case .initiation:
        violations += 1
        return
      default:
        if chunk.type.isReportedWhenUnknown { report(.unrecognizedChunk, chunk.bytes, &budget) }
        guard chunk.type.skipsWhenUnknown else { return }
      }
      if case .closed = state { return }
    }
    if chunks.hasRest { violations += 1 }
    if hasData { tracker.packetReceived(now: now) }
  }

  /// How much one packet may cause: answers beside its acknowledgement, so that many small chunks are not many answers, and
  /// chunks that have everything looked through that is kept. Peers send one of each kind in a packet.
  struct PacketBudget {
    var errors = 1
    var heartbeats = 1
    var reconfigurations = 2
    /// A SACK costs a pass over all unacknowledged chunks.
    var acknowledgements = 2
    /// FORWARD TSN: all incomplete messages are looked through.
    var forwards = 2

    /// Takes one of a kind; false when there is none left.
    mutating func take(_ kind: WritableKeyPath<PacketBudget, Int>) -> Bool {
      self[keyPath: kind] -= 1
      return self[keyPath: kind] >= 0
    }
  }

  var isOpen: Bool {
    switch state {
    case .closed, .cookieWait, .cookieEchoed: false
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent: true
    }
  }

  // MARK: Data

  /// - Returns: whether the chunk was data, which is to be acknowledged.
  private mutating func handleData(_ chunk: SCTPChunk, _ budget: inout PacketBudget, now: Timestamp) -> Bool {
    // Data before COOKIE ACK is sent again later; data of another kind than negotiated is a violation (RFC 8260
    // §2.2.1).
    guard isOpen, let data = SCTPData(parsing: chunk) else { return false }
    guard data.isInterleaved == isInterleaved else {
      violations += 1
      return false
    }
    let payload = SCTPData.payload(of: chunk)
    switch tracker.status(of: data.tsn) {
    case .duplicate:
      tracker.noteDuplicate(data.tsn)
      return true
    case .refused:
      violations += 1
      return true
    case .new: break
    }
    guard reassembly.hasRoom(for: data, size: payload.count, isNext: tracker.isNext(data.tsn)) else {
      tracker.ackNow()
      return true
    }
    let position = tracker.position(of: data.tsn)
    tracker.accept(data.tsn)
    if data.isImmediate { tracker.ackNow() }
    guard !payload.isEmpty, Int(data.stream.value) < Int(min(options.streams, peer.outboundStreams)) else {
      violations += 1
      let cause = payload.isEmpty ? SCTPErrorCause.noUserData : .invalidStream
      let start = payload.isEmpty ? 4 : 8
      report(cause, chunk.bytes.extracting(start..<min(start + 4, chunk.bytes.count)), &budget)
      return true
    }
    reassembly.insert(data, payload, at: position, into: &events)
    return true
  }

  private mutating func handleForward(_ chunk: SCTPChunk, now: Timestamp) {
    guard isOpen, let forward = SCTPForwardTSN(parsing: chunk), forward.isInterleaved == isInterleaved else {
      return violations += 1
    }
    let position = tracker.position(of: forward.newCumulativeTSN)
    // Also when it is an old one: our acknowledgement of it may have been lost (RFC 3758 §3.6).
    tracker.ackNow()
    guard tracker.skip(to: forward.newCumulativeTSN) else { return }
    let limit = Int(min(options.streams, peer.outboundStreams))
    reassembly.skip(forward, to: position, streamLimit: limit, into: &events)
  }

  // MARK: Acknowledgements

  private mutating func handleSelectiveAck(_ chunk: SCTPChunk, now: Timestamp) {
    guard isOpen, let ack = SCTPSelectiveAck(parsing: chunk) else { return violations += 1 }
    // An older SACK than the last has no information; one for unsent chunks is forged.
    guard retransmission.isValid(cumulative: ack.cumulativeTSN) else { return violations += 1 }
    peerWindow = Int(ack.receiverWindow)
    let wasFull = retransmission.inFlightBytes + builder.packetSize >= congestion.size
    let result = retransmission.handle(
      ack, isInRecovery: congestion.isInRecovery, roundTrip: rto.smoothedRoundTrip,
      hasSentCopies: copies.lastSent.map { now - $0 < .seconds(1) } ?? false, now: now)
    acknowledged(result, wasFull: wasFull, now: now)
    // A peer that answers while it can take nothing is alive (RFC 9260 §6.1 A).
    if peerWindow < builder.packetSize { errorCount = 0 }
  }

  /// Applies the result of an acknowledgement, of SACK or SHUTDOWN.
  mutating func acknowledged(_ result: RetransmissionQueue.Acknowledgement, wasFull: Bool, now: Timestamp) {
    if let roundTrip = result.roundTrip { rto.measured(roundTrip) }
    congestion.acknowledged(
      result.bytes, cumulative: retransmission.cumulativeTSN, advanced: result.isCumulativeAdvanced, wasFull: wasFull)
    if result.bytes > 0 || result.isCumulativeAdvanced {
      errorCount = 0
      hasProbed = false
      rto.progressed()
    }
    if result.hasNewLosses {
      if !congestion.isInRecovery { isWindowOverruled = true }
      congestion.lost(highestSent: retransmission.lastTSN)
    }
    giveUp(result.abandoned, now: now)
    retransmission.updateSkip()
    if retransmission.skipCount > 0 { isForwardDue = true }
    if retransmission.isEmpty {
      timers.stop(.retransmission)
      congestion.emptied()
    } else if result.isCumulativeAdvanced {
      timers[.retransmission] = now + rto.timeout
    }
    timers.stop(.tailProbe)
    timers[.reordering] = result.reorderingDeadline ?? .distantFuture
  }

  /// Drops the unsent rest of messages that were given up.
  mutating func giveUp(_ fragments: [OutgoingFragment], now: Timestamp) {
    for fragment in fragments where sendQueue.discardRest(of: fragment.messageID, on: fragment.stream) {
      retransmission.abandonUnfinished(
        messageID: fragment.messageID, stream: fragment.stream, isUnordered: fragment.isUnordered,
        messageNumber: fragment.messageNumber, now: now)
    }
    if retransmission.skipCount > 0 { isForwardDue = true }
  }

  // MARK: Heartbeats, resets, errors

  private mutating func answerHeartbeat(_ chunk: SCTPChunk, _ budget: inout PacketBudget) {
    let size = SCTPChunk.paddedSize(valueSize: chunk.value.count)
    guard isOpen, size <= builder.capacity, budget.take(\.heartbeats) else { return }
    let value = [UInt8](copying: chunk.value)
    builder.add(size) { SCTPChunk.write(.heartbeatAck, value: value.span, into: &$0) }
  }

  private mutating func handleHeartbeatAck(_ chunk: SCTPChunk, now: Timestamp) {
    guard let sentAt = heartbeatSentAt, isHeartbeatInformation(chunk.value, of: sentAt) else { return }
    heartbeatSentAt = nil
    errorCount = 0
    rto.measured(now - sentAt)
    timers[.heartbeat] = now + options.heartbeatInterval
  }

  private mutating func handleReconfiguration(
    _ chunk: SCTPChunk, _ budget: inout PacketBudget, now: Timestamp
  ) {
    guard isOpen else { return }
    var parameters = SCTPParameters(chunk.value)
    while let parameter = parameters.next() {
      if let response = SCTPReconfigurationResponse(parsing: parameter) {
        handleResetResponse(response, now: now)
        continue
      }
      guard budget.take(\.reconfigurations) else { return }
      var reader = ByteReader(parameter.value)
      guard let number = reader.readUInt32() else { return violations += 1 }
      if resets.isDue(number) {
        switch parameter.type {
        case .outgoingResetRequest:
          guard let request = SCTPOutgoingResetRequest(parsing: parameter) else { return violations += 1 }
          resets.performed(number, performIncomingReset(request))
        case .incomingResetRequest: resets.performed(number, .nothingToDo)
        case .associationResetRequest, .addOutgoingStreams, .addIncomingStreams: resets.performed(number, .denied)
        default: return
        }
      }
      let response = resets.answer(to: number)
      builder.add(SCTPReconfigurationResponse.chunkSize) { response.writeChunk(into: &$0) }
    }
  }

  private mutating func handleResetResponse(_ response: SCTPReconfigurationResponse, now: Timestamp) {
    guard let ended = resets.handle(response) else {
      if resets.isWaiting, response.result == .inProgress { timers[.reconfiguration] = now + rto.timeout }
      return
    }
    errorCount = 0
    timers.stop(.reconfiguration)
    if !ended.failed { for stream in ended.streams { sendQueue.resetNumbers(of: stream) } }
    events.append(.outgoingReset(ended.streams, failed: ended.failed))
  }

  mutating func report(_ cause: SCTPErrorCause, _ information: Span<UInt8>, _ budget: inout PacketBudget) {
    guard isOpen, budget.take(\.errors) else { return }
    let bytes = [UInt8](copying: information.extracting(0..<min(information.count, 64)))
    builder.add(SCTPErrorCause.chunkSize(information: bytes.count)) {
      cause.writeChunk(.error, information: bytes.span, into: &$0)
    }
  }
}
