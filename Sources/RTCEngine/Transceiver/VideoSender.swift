package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The sending direction of a video transceiver: packets, their repair, key-frame requests, reports and statistics.
package struct VideoSender {
  /// After this long without a packet the picture rests.
  private static let rest = TimeDelta.milliseconds(2_500)
  private static let forgettingInterval = TimeDelta.seconds(1)
  package let id: TransceiverID
  package private(set) var identity: SendStreamIdentity
  /// The track to send; nil: none.
  package private(set) var track: TrackName?
  /// Whether the track is being sent.
  package private(set) var isSending = false
  /// True while the owner of the track lets it rest.
  private var isMuted = false
  /// Whether sending is negotiated.
  private var maySend = false
  /// The send stream, made when sending was first negotiated; keeps the sequence numbers over pauses.
  private var stream: VideoSendStream?
  /// Sent packets, for a remote peer without RTX.
  private var sentPackets: SentPacketCache?
  /// When the last media packet left.
  private var lastSent = Timestamp.zero
  /// The `lastSent` of the rest in which a key-frame request was let pass.
  private var redundantPLI: Timestamp?
  private var probe = TailLossProbe()
  private var keyFrames = KeyFrameThrottle()
  /// The time to release frames that will not be requested any more.
  private var forgetDeadline = Timestamp.distantFuture
  private var allocated = BitRate.zero
  /// The remote peer's maximum.
  package private(set) var ceiling: BitRate?
  private var reportedLoss = ReportedLoss()
  /// The last FIR command number served.
  private var lastFIR: UInt8?
  /// The totals of an ended sender.
  private var final = SendStatistics()

  package init(id: TransceiverID, identity: SendStreamIdentity, track: TrackName?) {
    self.id = id
    self.identity = identity
    self.track = track
  }

  // MARK: - State

  /// When `deadlineReached` must be called.
  package var nextDeadline: Timestamp {
    min(min(probe.nextDeadline, keyFrames.nextDeadline), min(forgetDeadline, stream?.nextCopy ?? .distantFuture))
  }
  /// Takes a share of the bitrate.
  package var isActive: Bool { isSending && track != nil && !isMuted }
  /// Has been agreed to send at least once: its numbers are fixed.
  package var hasBegun: Bool { stream != nil }
  package var hasSent: Bool { statistics.packetsSent > 0 }
  package var statistics: SendStatistics { stream?.statistics ?? final }
  /// The present share of the bitrate, at most the remote peer's maximum; nil while nothing is sent.
  package var share: BitRate? { isSending && allocated > .zero ? allocated : nil }
  /// Whether padding can be made from sent packets.
  package var mayPad: Bool { isSending && hasSent }
  /// Whether padding can be made before anything was sent.
  package var mayProbeFirst: Bool { maySend && (stream?.mayProbeFirst ?? false) }
  /// The negotiated format; nil before.
  package var format: SendStreamFormat? { stream?.format }
  /// A packet waits for the pacer.
  package var hasPending: Bool { isSending && stream!.hasPending }
  /// Bytes that wait for the pacer.
  package var queuedBytes: Int { isSending ? stream!.queuedBytes : 0 }
  /// The viewer has nothing to decode from.
  package var needsKeyFrame: Bool { isSending && stream!.needsKeyFrame }
  /// The RTP timestamp of the monotonic clock's origin; nil before it was first agreed to send.
  package var clock: RTPTimestamp? { stream?.identity.timestampOffset }
  /// Packets kept for being sent again.
  package var retainedPackets: Int { stream?.retainedPackets ?? 0 }

  package mutating func setTrack(_ track: TrackName?) { self.track = track }
  package mutating func setMuted(_ isMuted: Bool) { self.isMuted = isMuted }

  /// Other numbers, for a sender that has not begun.
  package mutating func setSources(ssrc: SSRC, rtxSSRC: SSRC, fecSSRC: SSRC) {
    identity.ssrc = ssrc
    identity.rtxSSRC = rtxSSRC
    identity.fecSSRC = fecSSRC
  }

  /// Applies the negotiated media; nil: the m-section is gone.
  package mutating func configure(_ media: NegotiatedMedia?) {
    maySend = media?.direction.sends ?? false
    ceiling = media?.remoteBandwidth
    guard let media, media.sendCodec != nil else {
      stream?.rest()
      probe.disarm()
      return
    }
    let format = SendStreamFormat(media)
    if stream == nil {
      stream = VideoSendStream(identity: identity, format: format)
    } else if stream!.format != format {
      stream!.setFormat(format)
    }
  }

  /// Starts or stops sending by the negotiation and the state of the transport.
  /// - Returns: true if it has changed.
  package mutating func updateSending(isSecured: Bool) -> Bool {
    let sends = isSecured && maySend && stream != nil
    guard sends != isSending else { return false }
    isSending = sends
    allocated = .zero
    return true
  }

  /// Takes the video's share of the bitrate.
  /// - Returns: true when it is another than before.
  package mutating func allocate(_ share: BitRate) -> Bool {
    guard share != allocated else { return false }
    allocated = share
    return true
  }

  /// Releases everything but the totals.
  package mutating func end() {
    final = statistics
    (isSending, maySend) = (false, false)
    stream = nil
    sentPackets = nil
    probe.disarm()
    keyFrames.clear()
    forgetDeadline = .distantFuture
  }

  // MARK: - Frames in, packets out

  /// Queues `frame`, or leaves it out.
  /// - Parameter rate: the pacer's rate for this video.
  /// - Returns: true if the source must be asked for a key frame first.
  package mutating func send(_ frame: EncodedFrame, now: Timestamp, rate: BitRate, roundTrip: TimeDelta) -> Bool {
    guard isSending else { return false }
    if frame.isKeyFrame { keyFrames.clear() }
    guard !stream!.enqueue(frame, now: now, rate: rate), stream!.popKeyFrameRequest() else { return false }
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// Writes the next packet that waits at the start of `datagram`, protected.
  /// - Returns: its length, 0 when nothing may leave; and its kind, nil when it leaves under the transport-wide number
  ///   that it had before.
  @_lifetime(datagram: copy datagram)
  package mutating func writeNext(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields, over transport: inout Transport
  ) -> (count: Int, kind: SentPacket.Kind?) {
    switch stream!.writeNext(into: &datagram, at: moment) {
    case nil: return (0, nil)
    case .again(let number):
      return sent(sentPackets?.write(number, into: &datagram) ?? 0, nil, moment.now)
    case .written(let count, let number, let isRepair):
      let protected = transport.protectRTP(&datagram, count: count)
      guard protected > 0 else { return (0, nil) }
      if !stream!.hasRTX { keep(number, datagram.span.extracting(0..<protected)) }
      return sent(protected, isRepair ? .repair : .video, moment.now)
    case .forwardErrorCorrection(let count, let number):
      let protected = transport.protectRTP(&datagram, count: count)
      guard protected > 0 else { return (0, nil) }
      if let number, !stream!.hasRTX { keep(number, datagram.span.extracting(0..<protected)) }
      return sent(protected, .fec, moment.now)
    }
  }

  /// Updates the state of the path for the protection of frames.
  /// - Parameters:
  ///   - loss: recent packet loss, 0…1.
  ///   - overhead: the number of repair packets for each packet of media that the spare bandwidth allows.
  package mutating func networkChanged(loss: Double, roundTrip: TimeDelta, overhead: Double, now: Timestamp) {
    stream?.networkChanged(loss: loss, roundTrip: roundTrip, overhead: overhead, now: now)
  }

  /// The bytes as they left: needed of codecs without RTX alone.
  private mutating func keep(_ number: SequenceNumber, _ packet: Span<UInt8>) {
    if sentPackets == nil { sentPackets = SentPacketCache() }
    sentPackets!.keep(number, packet)
  }

  /// Writes a packet of nothing but weight at the start of `datagram`, protected.
  /// - Returns: its length, 0 when there is nothing to make it of.
  @_lifetime(datagram: copy datagram)
  package mutating func writePadding(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields, over transport: inout Transport
  ) -> Int {
    guard maySend, let count = stream?.writePadding(into: &datagram, at: moment) else { return 0 }
    let protected = transport.protectRTP(&datagram, count: count)
    stream!.countSent(bytes: protected, isRepair: false)
    return protected
  }

  private mutating func sent(
    _ count: Int, _ kind: SentPacket.Kind?, _ now: Timestamp
  ) -> (count: Int, kind: SentPacket.Kind?) {
    guard count > 0 else { return (0, nil) }
    lastSent = now
    stream!.countSent(bytes: count, isRepair: kind == .repair || kind == nil)
    if forgetDeadline == .distantFuture { forgetDeadline = now + Self.forgettingInterval }
    return (count, kind)
  }

  /// The pacer's queue is empty: starts to watch the last packets.
  /// - Returns: true if the source is to be asked for the key frame that had to wait for that.
  package mutating func queueDrained(_ now: Timestamp, history: borrowing SentPacketHistory, roundTrip: TimeDelta)
    -> Bool
  {
    guard stream != nil else { return false }
    if probe.watched != lastSent {
      probe.arm(
        lastSent: lastSent, attempt: 0, now: now, roundTrip: roundTrip, hasFeedback: history.hasFeedback)
    }
    guard stream!.hasDrainedTooLate, stream!.popKeyFrameRequest() else { return false }
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  // MARK: - Time

  /// The result of a deadline.
  package struct DeadlineOutcome: Hashable {
    /// Whether the source is to be asked for a key frame.
    package var requestsKeyFrame = false
    /// Whether the last packets wait for retransmission; call `probeSent` after asking the pacer.
    package var queuesProbe = false
    /// Small frames wait to be sent a second time.
    package var queuesCopies = false
  }

  /// Performs everything that is due at `now`; without effect if nothing is.
  /// - Parameter loss: recent packet loss, 0…1.
  package mutating func deadlineReached(
    _ now: Timestamp, history: borrowing SentPacketHistory, roundTrip: TimeDelta, loss: Double
  ) -> DeadlineOutcome {
    var outcome = DeadlineOutcome()
    if let stream, stream.nextCopy <= now {
      outcome.queuesCopies = self.stream!.queueCopies(now, loss: loss)
    }
    if probe.nextDeadline <= now {
      probe.disarm()
      if isSending, !stream!.hasTailArrived(history) {
        stream!.repairTail(history, now: now)
        outcome.queuesProbe = true
      }
    }
    if keyFrames.nextDeadline <= now {
      keyFrames.clear()
      outcome.requestsKeyFrame = isSending && requestKeyFrame(now, roundTrip: roundTrip)
    }
    if forgetDeadline <= now {
      let hasLeft = stream?.forgetOld(now) ?? false
      forgetDeadline = hasLeft ? now + Self.forgettingInterval : .distantFuture
    }
    return outcome
  }

  /// The last packets were sent again, or wait for the pacer.
  package mutating func probeSent(
    _ now: Timestamp, attempt: Int, history: borrowing SentPacketHistory, roundTrip: TimeDelta
  ) {
    probe.arm(
      lastSent: lastSent, attempt: attempt, now: now, roundTrip: roundTrip, hasFeedback: history.hasFeedback)
  }

  /// The number of tail retransmissions without an effect.
  package var probeAttempts: Int { probe.attempts }

  // MARK: - Reports and requests of the remote peer

  /// Returns true if the source is to be asked for a key frame now.
  package mutating func requestKeyFrame(_ now: Timestamp, roundTrip: TimeDelta) -> Bool {
    keyFrames.request(now, lastSent: stream?.keyFrameSent, roundTrip: roundTrip)
  }

  /// - Parameter ignoresRedundant: the first request while no frames are sent is accepted all the same.
  /// - Returns: true if the source is to be asked for a key frame.
  package mutating func receivePLI(
    _ now: Timestamp, history: borrowing SentPacketHistory, roundTrip: TimeDelta, ignoresRedundant: Bool
  ) -> Bool {
    stream?.countKeyFrameRequest(isFIR: false)
    if ignoresRedundant, isRedundantPLI(now, history) {
      redundantPLI = lastSent
      return false
    }
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// libwebrtc asks for a key frame once it was sent nothing for three seconds, whether it misses anything or not. On a
  /// screen that rests, with everything sent and arrived, the picture it has is the picture: the first request of each
  /// rest is let pass. A second one is meant.
  private func isRedundantPLI(_ now: Timestamp, _ history: borrowing SentPacketHistory) -> Bool {
    guard let stream, !stream.hasPending, stream.statistics.keyFramesSent > 0 else { return false }
    return history.hasFeedback && stream.hasTailArrived(history) && now - lastSent >= Self.rest
      && redundantPLI != lastSent
  }

  /// A repeated command number is the same request again (RFC 5104 §4.3.1.1).
  /// - Returns: true if the source is to be asked for a key frame.
  package mutating func receiveFIR(_ command: UInt8, _ now: Timestamp, roundTrip: TimeDelta) -> Bool {
    guard command != lastFIR else { return false }
    lastFIR = command
    stream?.countKeyFrameRequest(isFIR: true)
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// Queues requested packets.
  /// - Parameters:
  ///   - interval: a packet that was retransmitted less than this ago is skipped.
  ///   - rate: the bandwidth of the path.
  /// - Returns: true if that would take so long that the source is to be asked for a key frame instead.
  package mutating func receive(
    _ nack: consuming GenericNACK, history: borrowing SentPacketHistory, now: Timestamp, interval: TimeDelta,
    rate: BitRate, roundTrip: TimeDelta
  ) -> Bool {
    guard stream != nil else { return false }
    stream!.countNACK()
    while let number = nack.next() { stream!.repair(number, history: history, now: now, interval: interval) }
    return stream!.abandonLateRepair(rate: rate) && requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// Takes a receiver report on this video.
  /// - Parameter countsLoss: false if feedback on single packets is available.
  /// - Returns: the loss since the last report.
  package mutating func receive(_ block: ReportBlock, countsLoss: Bool) -> ReportedLoss.Interval? {
    stream?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter)
    return countsLoss ? reportedLoss.interval(to: block) : nil
  }

  /// Our sender report; nil before anything was sent.
  package func senderReport(_ now: Timestamp, ntpTime: NTPTimestamp) -> SenderReport? {
    guard isSending, hasSent, let stream else { return nil }
    return SenderReport(
      sender: identity.ssrc, ntpTime: ntpTime, rtpTime: stream.rtpTimestamp(now),
      packetCount: UInt32(truncatingIfNeeded: stream.statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: stream.statistics.payloadBytesSent))
  }
}
