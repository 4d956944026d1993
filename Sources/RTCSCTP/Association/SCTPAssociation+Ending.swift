import RTCPrimitives
import RTCWire

/// How streams and associations end (RFC 6525 §5, RFC 9260 §9).
extension SCTPAssociation {
  /// Events of resets that the owner has not taken; beyond that the peer must wait.
  private static let maximumResetEvents = 8

  // MARK: Resets

  /// Asks for the reset of those streams in which nothing waits.
  mutating func startResets(_ now: Timestamp) {
    guard case .established = state else { return }
    let most = max(1, (builder.capacity - 20) / 2 - 2)
    let last = retransmission.lastTSN
    guard resets.begin(maximumStreams: most, lastTSN: last, isReady: { !sendQueue.hasMessages(of: $0) }) else { return }
    sendResetRequest(now)
  }

  mutating func sendResetRequest(_ now: Timestamp) {
    guard let request = resets.takeRequest() else { return }
    builder.add(request.chunkSize) { request.writeChunk(into: &$0) }
    timers[.reconfiguration] = now + rto.timeout
  }

  /// The peer has reset its side of streams (RFC 6525 §5.2.2).
  mutating func performIncomingReset(_ request: SCTPOutgoingResetRequest) -> SCTPReconfigurationResponse.Result {
    guard pendingResetEvents < Self.maximumResetEvents, !request.lastTSN.isNewer(than: tracker.cumulativeTSN) else {
      return .inProgress
    }
    guard request.streams.allSatisfy({ $0.value < min(options.streams, peer.outboundStreams) }) else {
      return .wrongStreamNumber
    }
    reassembly.reset(request.streams)
    pendingResetEvents += 1
    events.append(.incomingReset(request.streams))
    return .performed
  }

  // MARK: Abort

  mutating func handleAbort() {
    switch state {
    case .closed: break
    case .cookieWait, .cookieEchoed, .established, .shutdownPending, .shutdownSent, .shutdownReceived,
      .shutdownAckSent:
      close(.aborted)
    }
  }

  // MARK: Shutdown

  /// Continues a graceful shutdown when all chunks are acknowledged.
  mutating func continueShutdown(_ now: Timestamp) {
    guard retransmission.isEmpty, sendQueue.isEmpty else { return }
    switch state {
    case .shutdownPending:
      state = .shutdownSent
      sendShutdown()
      timers[.shutdown] = now + rto.timeout
    case .shutdownReceived:
      state = .shutdownAckSent
      sendShutdownAck()
      timers[.shutdown] = now + rto.timeout
    case .closed, .cookieWait, .cookieEchoed, .established, .shutdownSent, .shutdownAckSent: break
    }
  }

  private mutating func sendShutdown() {
    let tsn = tracker.cumulativeTSN
    builder.add(8) {
      SCTPChunk.writeHeader(.shutdown, valueSize: 4, into: &$0)
      $0.write(tsn.value)
    }
  }

  mutating func sendShutdownAck() {
    builder.add(4) { SCTPChunk.write(.shutdownAck, value: [UInt8]().span, into: &$0) }
  }

  mutating func shutdownTimedOut(_ now: Timestamp) {
    if case .shutdownAckSent = state, errorCount >= options.maximumRetransmissions {
      // All messages have arrived in both directions; only the last chunk is missing, and the peer may be gone already.
      return close(.shutDown)
    }
    guard countError() else { return }
    rto.timedOut()
    switch state {
    case .shutdownSent: sendShutdown()
    case .shutdownAckSent: sendShutdownAck()
    default: return
    }
    timers[.shutdown] = now + rto.timeout
  }

  /// The peer has nothing more to send.
  mutating func handleShutdown(_ chunk: SCTPChunk, now: Timestamp) {
    var reader = ByteReader(chunk.value)
    guard isOpen, let tsn = reader.readUInt32() else { return violations += 1 }
    if retransmission.isValid(cumulative: TSN(tsn)) {
      var result = RetransmissionQueue.Acknowledgement()
      retransmission.acknowledge(upTo: TSN(tsn), now: now, into: &result)
      acknowledged(result, wasFull: false, now: now)
    }
    switch state {
    case .established, .shutdownPending: state = .shutdownReceived
    case .shutdownSent:
      // Both sides began to shut down (RFC 9260 §9.2).
      state = .shutdownAckSent
      sendShutdownAck()
      timers[.shutdown] = now + rto.timeout
    case .closed, .cookieWait, .cookieEchoed, .shutdownReceived, .shutdownAckSent: break
    }
  }

  mutating func handleShutdownAck() {
    switch state {
    case .shutdownSent, .shutdownAckSent:
      builder.add(4) { SCTPChunk.write(.shutdownComplete, value: [UInt8]().span, into: &$0) }
      builder.close()
      close(.shutDown)
    case .closed, .cookieWait, .cookieEchoed, .established, .shutdownPending, .shutdownReceived: break
    }
  }

  mutating func handleShutdownComplete() {
    if case .shutdownAckSent = state { close(.shutDown) }
  }
}
