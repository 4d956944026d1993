package import RTCPrimitives
package import RTCWire

// Deadlines, and the requests and reports of the remote peer.
extension VideoSender {
  /// After this long without a packet the picture rests.
  private static let rest = TimeDelta.milliseconds(2_500)

  /// The pacer's queue is empty: starts to watch the last packets.
  /// - Returns: true if the source is to be asked for the key frame that had to wait for that.
  package mutating func queueDrained(_ now: Timestamp, history: borrowing SentPacketHistory, roundTrip: TimeDelta)
    -> Bool
  {
    guard hasBegun else { return false }
    if probe.watched != lastSent {
      probe.arm(
        lastSent: lastSent, attempt: 0, now: now, roundTrip: roundTrip, hasFeedback: history.hasFeedback)
    }
    guard queue.needsKeyFrameOnceDrained, queue.popKeyFrameRequest(isDrained: isDrained) else { return false }
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
    if copies.nextDeadline <= now { outcome.queuesCopies = queueCopies(now, loss: loss) }
    if probe.nextDeadline <= now {
      probe.disarm()
      if isSending, !hasTailArrived(history) {
        repairTail(history, now: now)
        outcome.queuesProbe = true
      }
    }
    if keyFrames.nextDeadline <= now {
      keyFrames.clear()
      outcome.requestsKeyFrame = isSending && requestKeyFrame(now, roundTrip: roundTrip)
    }
    if forgetDeadline <= now {
      forgetDeadline = forgetOld(now) ? now + Self.forgettingInterval : .distantFuture
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
    keyFrames.request(now, lastSent: keyFrameSent, roundTrip: roundTrip)
  }

  /// - Parameter ignoresRedundant: the first request while no frames are sent is accepted all the same.
  /// - Returns: true if the source is to be asked for a key frame.
  package mutating func receivePLI(
    _ now: Timestamp, history: borrowing SentPacketHistory, roundTrip: TimeDelta, ignoresRedundant: Bool
  ) -> Bool {
    if hasBegun { statistics.pliCount += 1 }
    if ignoresRedundant, isRedundantPLI(now, history) {
      redundantPLI = lastSent
      return false
    }
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// libwebrtc asks for a key frame once it was sent nothing for three seconds, whether it misses anything or not. On a
  /// screen that rests, with everything sent and arrived, the viewer has the picture: the first request of each rest is
  /// ignored, and a second one is served.
  private func isRedundantPLI(_ now: Timestamp, _ history: borrowing SentPacketHistory) -> Bool {
    guard hasBegun, isDrained, statistics.keyFramesSent > 0 else { return false }
    return history.hasFeedback && hasTailArrived(history) && now - lastSent >= Self.rest
      && redundantPLI != lastSent
  }

  /// A repeated command number is the same request again (RFC 5104 §4.3.1.1).
  /// - Returns: true if the source is to be asked for a key frame.
  package mutating func receiveFIR(_ command: UInt8, _ now: Timestamp, roundTrip: TimeDelta) -> Bool {
    guard command != lastFIR else { return false }
    lastFIR = command
    if hasBegun { statistics.firCount += 1 }
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
    guard hasBegun else { return false }
    statistics.nackCount += 1
    while let number = nack.next() { repair(number, history: history, now: now, interval: interval) }
    return abandonLateRepair(rate: rate) && requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// Takes a receiver report on this video.
  /// - Parameter countsLoss: false if feedback on single packets is available.
  /// - Returns: the loss since the last report.
  package mutating func receive(_ block: ReportBlock, countsLoss: Bool) -> ReportedLoss.Interval? {
    if hasBegun {
      statistics.fractionLost = Double(block.fractionLost) / 256
      statistics.jitter = block.jitter
    }
    return countsLoss ? reportedLoss.interval(to: block) : nil
  }

  /// Our sender report; nil before anything was sent.
  package func senderReport(_ now: Timestamp, ntpTime: NTPTimestamp) -> SenderReport? {
    guard isSending, hasSent else { return nil }
    return SenderReport(
      sender: identity.ssrc, ntpTime: ntpTime, rtpTime: headers.rtpTimestamp(now),
      packetCount: UInt32(truncatingIfNeeded: statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: statistics.payloadBytesSent))
  }
}
