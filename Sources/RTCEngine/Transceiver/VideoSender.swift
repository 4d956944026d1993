package import RTCMedia
package import RTCPrimitives

/// The sending direction of a video transceiver: packets, their repair, key-frame requests, reports and statistics.
///
/// Splits frames into packets, stores them for repair, and retransmits requested ones. The state says whether packets may
/// leave; the waiting frames, the sent packets and the sequence numbers outlast pauses.
package struct VideoSender {
  /// The progress of sending, and the values that only one state has.
  private enum State {
    /// Sending was never agreed, or has ended. The sources may still be changed.
    case idle
    /// A format was agreed, so the sources are fixed. Nothing is sent: either the descriptions pause sending, or the
    /// transport is not ready.
    case agreed(isPaused: Bool)
    /// Frames are sent, at this share of the bitrate.
    case sending(share: BitRate)
  }

  private var state = State.idle
  /// The track to send; nil: none.
  package private(set) var track: TrackName?
  /// True while the owner of the track lets it rest.
  private var isMuted = false
  /// The remote peer's maximum.
  package private(set) var ceiling: BitRate?
  /// The totals, of an ended sender too.
  package internal(set) var statistics = SendStatistics()

  // MARK: - Packets; see `VideoSender+Packets.swift`

  var headers: VideoPacketHeaders
  var queue: FrameQueue
  /// The sent packets' places in their frames, and the queue of retransmissions.
  var cache = RetransmissionCache()
  /// The bytes of sent packets, for a remote peer without RTX.
  var sentPackets: SentPacketCache?
  /// Small frames whose packets are repeated, the oldest first.
  var copies = CopyQueue()
  var protection: FrameProtection
  var nextSequence: SequenceNumber
  var nextRTXSequence: SequenceNumber
  /// The number of packets that have left of the frame that is being sent.
  var framePackets = 0
  /// When the last media packet left.
  var lastSent = Timestamp.zero
  /// When the last packet of a key frame left.
  var keyFrameSent: Timestamp?
  /// The time to release frames that will not be requested any more.
  var forgetDeadline = Timestamp.distantFuture

  // MARK: - Feedback; see `VideoSender+Feedback.swift`

  var probe = TailLossProbe()
  var keyFrames = KeyFrameThrottle()
  var reportedLoss = ReportedLoss()
  /// The `lastSent` of the rest in which a key-frame request was ignored.
  var redundantPLI: Timestamp?
  /// The last FIR command number served.
  var lastFIR: UInt8?

  package init(identity: SendStreamIdentity, track: TrackName?) {
    self.track = track
    headers = VideoPacketHeaders(identity: identity)
    queue = FrameQueue(firstPictureID: identity.firstPictureID)
    protection = FrameProtection(firstSequenceNumber: identity.firstSequenceNumber.advanced(by: 0x4000))
    nextSequence = identity.firstSequenceNumber
    nextRTXSequence = identity.firstSequenceNumber.advanced(by: 0x2000)
  }

  // MARK: - State

  /// When `deadlineReached` must be called.
  package var nextDeadline: Timestamp {
    min(min(probe.nextDeadline, keyFrames.nextDeadline), min(forgetDeadline, copies.nextDeadline))
  }
  /// Whether the track is being sent.
  package var isSending: Bool { if case .sending = state { true } else { false } }
  /// Has been agreed to send at least once: its sources are fixed.
  package var hasBegun: Bool { if case .idle = state { false } else { true } }
  /// Sending is agreed and not paused, whether or not the transport is ready.
  var maySend: Bool {
    switch state {
    case .idle: false
    case .agreed(let isPaused): !isPaused
    case .sending: true
    }
  }
  /// Takes a share of the bitrate.
  package var isActive: Bool { isSending && track != nil && !isMuted }
  package var hasSent: Bool { statistics.packetsSent > 0 }
  package var identity: SendStreamIdentity { headers.identity }
  /// The present share of the bitrate, at most the remote peer's maximum; nil while nothing is sent.
  package var share: BitRate? {
    if case .sending(let share) = state, share > .zero { share } else { nil }
  }
  /// The negotiated format; nil before.
  package var format: SendStreamFormat? { hasBegun ? headers.format : nil }
  /// The viewer has nothing to decode from.
  package var needsKeyFrame: Bool { isSending && queue.needsKeyFrame }
  /// The RTP timestamp of the monotonic clock's origin; nil before it was first agreed to send.
  package var clock: RTPTimestamp? { hasBegun ? headers.identity.timestampOffset : nil }
  /// The number of packets stored for retransmission, and of waiting ones.
  package var retainedPackets: Int { cache.count + queue.packets }

  package mutating func setTrack(_ track: TrackName?) { self.track = track }
  package mutating func setMuted(_ isMuted: Bool) { self.isMuted = isMuted }

  /// Sets other sources, for a sender that has not begun.
  package mutating func setSources(ssrc: SSRC, rtxSSRC: SSRC, fecSSRC: SSRC) {
    headers.identity.ssrc = ssrc
    headers.identity.rtxSSRC = rtxSSRC
    headers.identity.fecSSRC = fecSSRC
  }

  // MARK: - Transitions

  /// Applies the negotiated media; nil: the m-section is gone.
  /// - Returns: true if sending has stopped.
  package mutating func configure(_ media: NegotiatedMedia?) -> Bool {
    ceiling = media?.remoteBandwidth
    if let media, media.sendCodec != nil {
      agree(on: SendStreamFormat(media))
    } else {
      rest()
    }
    let isPaused = !(media?.direction.sends ?? false)
    switch state {
    case .idle: return false
    case .sending where !isPaused: return false
    case .agreed, .sending:
      defer { state = .agreed(isPaused: isPaused) }
      return isSending
    }
  }

  /// Takes a format for the frames that are sent. The sources are fixed from now on.
  package mutating func agree(on format: SendStreamFormat) {
    if case .idle = state {
      headers.format = format
      queue.reserve()
      state = .agreed(isPaused: false)
    } else if headers.format != format {
      headers.format = format
      protection.cancel()
      queue.formatChanged()
    }
  }

  /// Starts or stops sending by the state of the transport.
  /// - Returns: true if it has changed.
  package mutating func updateSending(isSecured: Bool) -> Bool {
    let sends = isSecured && maySend
    guard sends != isSending else { return false }
    state = sends ? .sending(share: .zero) : .agreed(isPaused: false)
    return true
  }

  /// Takes the video's share of the bitrate.
  /// - Returns: true when it is another than before.
  package mutating func allocate(_ share: BitRate) -> Bool {
    guard case .sending(let before) = state, share != before else { return false }
    state = .sending(share: share)
    return true
  }

  /// Sends nothing until the next key frame; waiting packets are dropped. Sequence numbers continue.
  private mutating func rest() {
    probe.disarm()
    guard hasBegun else { return }
    queue.dropAll(counting: &statistics)
    forgetSent()
  }

  /// Releases everything but the totals.
  package mutating func end() {
    state = .idle
    queue = FrameQueue(firstPictureID: headers.identity.firstPictureID)
    forgetSent()
    protection = FrameProtection(firstSequenceNumber: nextSequence)
    sentPackets = nil
    keyFrameSent = nil
    probe.disarm()
    keyFrames.clear()
    forgetDeadline = .distantFuture
  }

  mutating func forgetSent() {
    cache = RetransmissionCache()
    copies = CopyQueue()
    protection.cancel()
  }

  // MARK: - Frames in

  /// Queues `frame`, or leaves it out.
  /// - Parameter rate: the pacer's rate for this video.
  /// - Returns: true if the source must be asked for a key frame first.
  package mutating func send(_ frame: EncodedFrame, now: Timestamp, rate: BitRate, roundTrip: TimeDelta) -> Bool {
    guard isSending else { return false }
    if frame.isKeyFrame { keyFrames.clear() }
    guard !queue.add(frame, headers, now: now, rate: rate, counting: &statistics),
      queue.popKeyFrameRequest(isDrained: isDrained)
    else { return false }
    return requestKeyFrame(now, roundTrip: roundTrip)
  }

  /// Updates the state of the path for the protection of frames.
  /// - Parameters:
  ///   - loss: recent packet loss, 0…1.
  ///   - overhead: the number of repair packets for each packet of media that the spare bandwidth allows.
  package mutating func networkChanged(loss: Double, roundTrip: TimeDelta, overhead: Double, now: Timestamp) {
    guard hasBegun else { return }
    protection.controller.update(loss: loss, roundTrip: roundTrip, overhead: overhead, now: now)
  }
}
