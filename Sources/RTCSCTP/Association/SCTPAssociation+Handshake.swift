import RTCPrimitives
import RTCWire

/// How an association begins (RFC 9260 §5).
extension SCTPAssociation {
  private static let cookieSize = 16

  private func localInitiation(tag: UInt32, tsn: TSN) -> SCTPInitiation {
    var initiation = SCTPInitiation(
      initiateTag: tag, receiverWindow: UInt32(clamping: reassembly.window), outboundStreams: options.streams,
      inboundStreams: options.streams, initialTSN: tsn)
    initiation.capabilities.hasPartialReliability = true
    initiation.capabilities.hasReconfiguration = true
    initiation.capabilities.hasInterleaving = options.offersInterleaving
    initiation.capabilities.acceptsZeroChecksum = options.acceptsZeroChecksum
    return initiation
  }

  mutating func sendInitiation(_ now: Timestamp) {
    var initiation = localInitiation(tag: localTag, tsn: localInitialTSN)
    // Pion before 1.8.9 drops an INIT with parameters that it does not know, against RFC 9260 §3.2.1.
    if initiationAttempts > 1 { initiation.capabilities.acceptsZeroChecksum = false }
    builder.addAlone(initiation.size, tag: 0) { initiation.write(into: &$0) }
    timers[.initiation] = now + rto.timeout
  }

  mutating func sendCookie(_ now: Timestamp) {
    let cookie = peerCookie
    builder.addAlone(SCTPChunk.paddedSize(valueSize: cookie.count), tag: peer.initiateTag) {
      SCTPChunk.write(.cookieEcho, value: cookie.span, into: &$0)
    }
    timers[.cookie] = now + rto.timeout
  }

  // MARK: Received

  mutating func handleInitiation(_ chunk: SCTPChunk) {
    guard let received = SCTPInitiation(parsing: chunk) else { return violations += 1 }
    switch state {
    case .closed: return
    case .cookieWait, .cookieEchoed:
      // Both sides began at once: the answer repeats our own INIT (RFC 9260 §5.2.1).
      let record = record(of: received, known: pending, tag: localTag, tsn: localInitialTSN)
      pending = record
      answer(received, record)
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived:
      // A late INIT, or a peer that has restarted: only a returned cookie can decide (RFC 9260 §5.2.2).
      let (tag, tsn) = (makeTag(), TSN(UInt32(truncatingIfNeeded: random.next())))
      let record = record(of: received, known: restarting, tag: tag, tsn: tsn)
      restarting = record
      answer(received, record)
    case .shutdownAckSent: sendShutdownAck()
    }
  }

  /// Makes the record of the peer's INIT, which its cookie stands for. The same INIT gets the same answer.
  private mutating func record(of received: SCTPInitiation, known: Pending?, tag: UInt32, tsn: TSN) -> Pending {
    if let known, known.peer == received { return known }
    var cookie: [UInt8] = []
    while cookie.count < Self.cookieSize { cookie.append(UInt8(truncatingIfNeeded: random.next())) }
    return Pending(peer: received, localTag: tag, localTSN: tsn, cookie: cookie)
  }

  private mutating func answer(_ received: SCTPInitiation, _ record: Pending) {
    var answer = localInitiation(tag: record.localTag, tsn: record.localTSN)
    answer.cookie = record.cookie
    // Only a peer that has announced it gets the parameter (see `sendInitiation`).
    if !received.capabilities.acceptsZeroChecksum { answer.capabilities.acceptsZeroChecksum = false }
    answer.unrecognized = received.unrecognized
    builder.addAlone(answer.size, tag: received.initiateTag) { answer.write(into: &$0) }
  }

  mutating func handleInitiationAck(_ chunk: SCTPChunk, now: Timestamp) {
    guard case .cookieWait = state else { return }
    guard let received = SCTPInitiation(parsing: chunk), !received.cookie.isEmpty,
      SCTPChunk.paddedSize(valueSize: received.cookie.count) <= builder.capacity
    else { return violations += 1 }
    peer = received
    peerCookie = received.cookie
    peer.cookie = []
    builder.verificationTag = received.initiateTag
    state = .cookieEchoed
    timers.stop(.initiation)
    initiationAttempts = 0
    rto.progressed()
    sendCookie(now)
  }

  mutating func handleCookieEcho(_ chunk: SCTPChunk, tag: UInt32, now: Timestamp) {
    let cookie = [UInt8](copying: chunk.value)
    if let record = restarting, record.cookie == cookie, tag == record.localTag { return restart(record) }
    guard let record = pending, record.cookie == cookie, tag == record.localTag else { return violations += 1 }
    switch state {
    case .closed: return
    case .cookieWait, .cookieEchoed:
      peer = record.peer
      establish(localTSN: record.localTSN, now: now)
      sendCookieAck()
    case .established, .shutdownPending, .shutdownSent, .shutdownReceived, .shutdownAckSent:
      // The COOKIE ACK was lost.
      sendCookieAck()
    }
  }

  private mutating func sendCookieAck() {
    builder.add(SCTPChunk.headerSize) { SCTPChunk.write(.cookieAck, value: [UInt8]().span, into: &$0) }
  }

  mutating func handleCookieAck(now: Timestamp) {
    guard case .cookieEchoed = state else { return }
    establish(localTSN: localInitialTSN, now: now)
  }

  /// The peer has restarted, and proved it: the former association is gone (RFC 9260 §5.2.4.1). Data channels end with
  /// their association, and RFC 8831 has no restart, so the new one is refused. Otherwise the peer could empty the
  /// window repeatedly while earlier messages still wait.
  private mutating func restart(_ record: Pending) {
    builder.verificationTag = record.peer.initiateTag
    abort()
    events.append(.aborted)
  }

  private mutating func establish(localTSN: TSN, now: Timestamp) {
    state = .established
    timers.stop(.initiation)
    timers.stop(.cookie)
    peerCookie = []
    errorCount = 0
    builder.verificationTag = peer.initiateTag
    builder.omitsChecksum = options.acceptsZeroChecksum && peer.capabilities.acceptsZeroChecksum
    isInterleaved = options.offersInterleaving && peer.capabilities.hasInterleaving
    peerWindow = Int(peer.receiverWindow)
    advertisedWindow = reassembly.window
    tracker = DataTracker(initialTSN: peer.initialTSN)
    reassembly = ReassemblyQueue(
      maximumMessageSize: options.maximumMessageSize, capacity: options.receiveBuffer, isInterleaved: isInterleaved)
    retransmission = RetransmissionQueue(firstTSN: localTSN)
    resets = StreamReset(initialTSN: localTSN, peerInitialTSN: peer.initialTSN)
    sendQueue.isInterleaved = isInterleaved
    sendQueue.begunLimit = max(2 * builder.packetSize, peerWindow / 2)
    lastHeard = now
    timers[.heartbeat] = now + options.heartbeatInterval
    let streams = min(options.streams, peer.inboundStreams, peer.outboundStreams)
    events.append(.connected(streams: Int(streams)))
  }
}
