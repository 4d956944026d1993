import RTCPrimitives
import RTCWire

/// Sending to the peer (RFC 9260 §6.1).
extension SCTPAssociation {
  /// Writes all chunks that can be sent now: answers, acknowledgements, lost and waiting chunks.
  mutating func flush(now: Timestamp) {
    defer { builder.close() }
    guard isOpen else { return copies.removeAll() }
    if tracker.mustAck(now) || isWindowUpdateDue { writeAck() }
    writeForward(now)
    writeCopies(now)
    writeData(now)
    startResets(now)
    continueShutdown(now)
    setTimers(now)
  }

  // MARK: Data

  private mutating func writeData(_ now: Timestamp) {
    let first = retransmission.nextTSN
    var last = first
    var packets = 0
    while burstLeft > 0 {
      let begin = retransmission.nextTSN
      guard writeDataPacket(now) else { break }
      builder.close()
      last = begin
      burstLeft -= 1
      packets += 1
    }
    isWindowOverruled = false
    guard packets > 0, sendQueue.isEmpty else { return }
    // No later packet would reveal the loss of the last one, so a long burst has only that one copied.
    var tsn = packets <= EarlyCopies.maximumPackets ? first : last
    while retransmission.nextTSN.isNewer(than: tsn) {
      copies.add(EarlyCopies.Entry(tsn, transmissions: 1), now: now)
      tsn = tsn.advanced(by: 1)
    }
  }

  /// Copies change nothing in the account of what is under way: their originals may still arrive, and the round trip is
  /// measured from those.
  private mutating func writeCopies(_ now: Timestamp) {
    while let entry = copies.takeDue(now) {
      let index = entry.tsn.distance(from: retransmission.cumulativeTSN) - 1
      guard index >= 0, index < retransmission.chunks.count else { continue }
      let chunk = retransmission.chunks[index]
      guard case .inFlight = chunk.state, chunk.transmissions == entry.transmissions,
        chunk.fragment.maximumRetransmissions == .max, chunk.fragment.expiry > now, copies.spend(chunk.size, now: now)
      else { continue }
      retransmission.copied(index)
      writeChunk(chunk.fragment, tsn: entry.tsn, isImmediate: false)
    }
    builder.close()
  }

  /// Writes as much data as fits one packet and may leave. False when there was none.
  private mutating func writeDataPacket(_ now: Timestamp) -> Bool {
    let isResent = writeLost(now)
    let isNew = writeNew(now)
    isWindowOverruled = false
    return isResent || isNew
  }

  private mutating func bundleAck() { if tracker.isAckDue { writeAck() } }

  private mutating func writeLost(_ now: Timestamp) -> Bool {
    var hasWritten = false
    while let index = retransmission.nextLost() {
      let chunk = retransmission.chunks[index]
      guard isWindowOverruled || mayLeave(chunk.size, isRetransmission: true) else { break }
      if !hasWritten { bundleAck() }
      guard chunk.size <= builder.room || !hasWritten else { break }
      if chunk.size > builder.room { builder.close() }
      retransmission.retransmitted(index, now: now)
      // The receiver of a retransmission acknowledges it at once.
      let tsn = retransmission.tsn(of: index)
      writeChunk(chunk.fragment, tsn: tsn, isImmediate: true)
      copies.add(EarlyCopies.Entry(tsn, transmissions: chunk.transmissions &+ 1), now: now)
      hasWritten = true
    }
    return hasWritten
  }

  private mutating func writeNew(_ now: Timestamp) -> Bool {
    var hasWritten = false
    let header = SCTPData.headerSize(isInterleaved: isInterleaved)
    let fullRoom = builder.capacity - header
    while retransmission.lostCount == 0, !retransmission.isFull, mayLeave(builder.capacity, isRetransmission: false) {
      if !hasWritten, !sendQueue.isEmpty { bundleAck() }
      let room = min(builder.room - header, fullRoom)
      guard room >= 4 else { break }
      switch sendQueue.next(room: room & ~3, fullRoom: fullRoom, now: now) {
      case .fragment(let fragment):
        let size = header + (fragment.range.count + 3) & ~3
        let tsn = retransmission.nextTSN
        retransmission.append(fragment, size: size, now: now)
        // The end of much: its acknowledgement need not wait for company (RFC 7053).
        hasAskedForAck = sendQueue.isEmpty && retransmission.chunks.count >= 4
        writeChunk(fragment, tsn: tsn, isImmediate: hasAskedForAck)
        hasWritten = true
      case .expired(let id, let stream, let isUnordered, let number):
        retransmission.abandonUnfinished(
          messageID: id, stream: stream, isUnordered: isUnordered, messageNumber: number, now: now)
        isForwardDue = true
      case .needsRoom:
        if hasWritten { return true }
        // The packet has no data, so it may be sent without more.
        guard builder.hasChunks else { return false }
        builder.close()
      case .nothing: return hasWritten
      }
    }
    return hasWritten
  }

  /// RFC 9260 §6.1 A, B: within the peer's window, except for one chunk that probes whether it has opened, and within ours.
  private func mayLeave(_ size: Int, isRetransmission: Bool) -> Bool {
    let inFlight = retransmission.inFlightBytes
    if inFlight == 0 { return true }
    return inFlight < congestion.size && inFlight + size <= (isRetransmission ? max(peerWindow, size) : peerWindow)
  }

  private mutating func writeChunk(_ fragment: OutgoingFragment, tsn: TSN, isImmediate: Bool) {
    let data = SCTPData(
      tsn: tsn, stream: fragment.stream, isUnordered: fragment.isUnordered, isBeginning: fragment.isBeginning,
      isEnd: fragment.isEnd, isImmediate: isImmediate, messageNumber: fragment.messageNumber,
      fragmentNumber: fragment.fragmentNumber, payloadProtocol: fragment.payloadProtocol, isInterleaved: isInterleaved)
    let size = SCTPData.headerSize(isInterleaved: isInterleaved) + (fragment.range.count + 3) & ~3
    builder.add(size) { data.write(payload: fragment.message.span.extracting(fragment.range), into: &$0) }
  }

  // MARK: Acknowledgements

  /// A window that was nearly shut has opened: the peer may be waiting for nothing else.
  private var isWindowUpdateDue: Bool {
    advertisedWindow < options.receiveBuffer / 4
      && reassembly.window - advertisedWindow >= max(2 * builder.packetSize, options.receiveBuffer / 8)
  }

  private mutating func writeAck() {
    let room = (builder.room - SCTPSelectiveAck.size(gapBlocks: 0, duplicates: 16)) / 4
    let (gaps, duplicates) = tracker.takeAck(maximumGapBlocks: max(0, room))
    let tsn = tracker.cumulativeTSN
    advertisedWindow = reassembly.window
    let window = UInt32(clamping: advertisedWindow)
    builder.add(SCTPSelectiveAck.size(gapBlocks: gaps.count, duplicates: duplicates.count)) {
      SCTPSelectiveAck.write(
        cumulativeTSN: tsn, receiverWindow: window, gapBlocks: gaps.span, duplicates: duplicates.span, into: &$0)
    }
  }

  /// Tells the peer which chunks will not arrive (RFC 3758 §3.5 C2).
  private mutating func writeForward(_ now: Timestamp) {
    guard isForwardDue else { return }
    isForwardDue = false
    guard peer.capabilities.hasPartialReliability else { return }
    let entrySize = SCTPForwardTSN.entrySize(isInterleaved: isInterleaved)
    let most = (builder.capacity - SCTPForwardTSN.size(skips: 0, isInterleaved: isInterleaved)) / entrySize
    guard let (tsn, skips) = retransmission.forward(maximumSkips: most, isInterleaved: isInterleaved) else { return }
    let interleaved = isInterleaved
    builder.add(SCTPForwardTSN.size(skips: skips.count, isInterleaved: interleaved)) {
      SCTPForwardTSN.write(newCumulativeTSN: tsn, skips: skips.span, isInterleaved: interleaved, into: &$0)
    }
  }

  // MARK: Timers

  private mutating func setTimers(_ now: Timestamp) {
    setBurstTimer(now)
    guard isOpen, !retransmission.isEmpty else {
      timers.stop(.retransmission)
      return timers.stop(.tailProbe)
    }
    if !timers.isRunning(.retransmission) { timers[.retransmission] = now + rto.timeout }
    guard retransmission.lostCount == 0, retransmission.inFlightBytes > 0, !hasProbed,
      !timers.isRunning(.tailProbe), let roundTrip = rto.smoothedRoundTrip
    else { return }
    // A peer that was not asked may hold its acknowledgement back for 200 ms.
    let patience = max(.milliseconds(10), roundTrip * 2) + (hasAskedForAck ? .zero : .milliseconds(200))
    if now + patience < timers[.retransmission] { timers[.tailProbe] = now + patience }
  }

  /// Where the path's rate is known, the window is filled at this rate rather than by one burst for each acknowledgement.
  private mutating func setBurstTimer(_ now: Timestamp) {
    timers.stop(.burst)
    guard isOpen, burstLeft == 0, pathRate > .zero, !sendQueue.isEmpty || retransmission.lostCount > 0,
      mayLeave(builder.capacity, isRetransmission: false)
    else { return }
    let time = pathRate.time(forBytes: Self.maximumBurst * builder.packetSize)
    timers[.burst] = max(now + .milliseconds(1), burstRefilledAt + time)
  }

  /// Performs what is due. Take the events, then call `flush`.
  mutating func advance(now: Timestamp) {
    while let name = timers.takeDue(now) { timedOut(name, now: now) }
  }

  private mutating func timedOut(_ name: SCTPTimers.Name, now: Timestamp) {
    switch name {
    case .initiation, .cookie:
      initiationAttempts += 1
      guard initiationAttempts <= options.maximumRetransmissions else { return close(.lost) }
      rto.timedOut()
      if name == .cookie { sendCookie(now) } else { sendInitiation(now) }
    case .shutdown: shutdownTimedOut(now)
    case .retransmission: retransmissionTimedOut(now)
    case .tailProbe: probe(now)
    case .burst: refillBurst(now)
    case .reordering:
      let roundTrip = rto.smoothedRoundTrip ?? .milliseconds(100)
      acknowledged(retransmission.loseOvertaken(roundTrip: roundTrip, now: now), wasFull: false, now: now)
      refillBurst(now)
    case .reconfiguration:
      guard countError() else { return }
      sendResetRequest(now)
    case .heartbeat: heartbeatTimedOut(now)
    }
  }

  private mutating func retransmissionTimedOut(_ now: Timestamp) {
    guard countError() else { return }
    rto.timedOut()
    congestion.timedOut()
    giveUp(retransmission.loseAll(forgetsGaps: errorCount > 2, now: now), now: now)
    // No probes between timeouts: they would undo the doubling (RFC 8985 §7.2).
    hasProbed = true
    refillBurst(now, packets: 1)
    timers[.retransmission] = now + rto.timeout
  }

  /// The tail probe: a new chunk if there is one, else the last chunk again (RFC 8985 §7.3).
  private mutating func probe(_ now: Timestamp) {
    hasProbed = true
    if sendQueue.isEmpty || retransmission.inFlightBytes >= congestion.size {
      guard retransmission.loseLast(now: now) else { return }
    }
    isWindowOverruled = true
    refillBurst(now, packets: 1)
  }

  // MARK: Heartbeats

  private mutating func heartbeatTimedOut(_ now: Timestamp) {
    guard isOpen else { return }
    if heartbeatSentAt != nil {
      heartbeatSentAt = nil
      guard countError() else { return }
      rto.timedOut()
    } else if now < lastHeard + options.heartbeatInterval {
      timers[.heartbeat] = lastHeard + options.heartbeatInterval
      return
    }
    heartbeatSentAt = now
    let time = UInt64(bitPattern: now.nanoseconds)
    builder.add(16) {
      SCTPChunk.writeHeader(.heartbeat, valueSize: 12, into: &$0)
      $0.write(UInt16(1))  // Heartbeat Info
      $0.write(UInt16(12))
      $0.write(time)
    }
    timers[.heartbeat] = now + rto.timeout
  }

  func isHeartbeatInformation(_ value: Span<UInt8>, of sentAt: Timestamp) -> Bool {
    var reader = ByteReader(value)
    return value.count == 12 && reader.skip(4) && reader.readUInt64() == UInt64(bitPattern: sentAt.nanoseconds)
  }
}
