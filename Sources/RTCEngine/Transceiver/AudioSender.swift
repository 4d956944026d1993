package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The sending direction of an audio transceiver: packets, its own bitrate, reports and statistics.
package struct AudioSender {
  package let id: TransceiverID
  package private(set) var identity: AudioSendIdentity
  /// The track to send; nil: none.
  package private(set) var track: TrackName?
  /// Whether the track is being sent.
  package private(set) var isSending = false
  /// The negotiated Opus preferences of the remote peer.
  package private(set) var preferences = OpusPreferences()
  private var announcedPreferences = OpusPreferences()
  /// Whether sending is negotiated.
  private var maySend = false
  /// The send stream, made when sending was first negotiated; keeps the sequence numbers over pauses.
  private var stream: AudioSendStream?
  /// The bitrate, which follows the listener's reported loss in steps.
  private var bitrate: SteppedBitrate
  private var announcedBitrate = BitRate.zero
  private var reportedLoss = ReportedLoss()
  /// Packet loss by the last reports, 0…1.
  private var loss = 0.0
  /// The totals of an ended sender.
  private var final = AudioSendStatistics()

  package init(id: TransceiverID, identity: AudioSendIdentity, track: TrackName?, bitrates: BitrateLimits) {
    self.id = id
    self.identity = identity
    self.track = track
    bitrate = SteppedBitrate(limits: bitrates)
  }

  // MARK: - State

  /// When `deadlineReached` must be called.
  package var nextDeadline: Timestamp { isSending ? bitrate.nextDeadline : .distantFuture }
  /// Has been agreed to send at least once: its numbers are fixed.
  package var hasBegun: Bool { stream != nil }
  package var hasSent: Bool { statistics.packetsSent > 0 }
  package var statistics: AudioSendStatistics { stream?.statistics ?? final }

  package mutating func setTrack(_ track: TrackName?) { self.track = track }

  /// Sets another source, before sending has begun.
  package mutating func setSource(_ ssrc: SSRC) { identity.ssrc = ssrc }

  /// Applies the negotiated media; nil: the m-section is gone.
  package mutating func configure(_ media: NegotiatedMedia?) {
    maySend = media?.direction.sends ?? false
    guard let media, let codec = media.sendCodec else { return }
    preferences = OpusPreferences(codec.parameters)
    let format = AudioSendFormat(
      mid: media.reference.mid.flatMap { RTPStreamID($0) }, payloadType: codec.payloadType,
      extensionMap: media.extensionMap, red: media.sendRepairs.first { $0.capability.name == "red" }?.payloadType)
    if stream == nil {
      stream = AudioSendStream(identity: identity, format: format)
    } else {
      stream!.setFormat(format)
    }
  }

  /// Starts or stops sending by the negotiation and the state of the transport.
  /// - Returns: true if it has changed.
  package mutating func updateSending(isSecured: Bool, now: Timestamp) -> Bool {
    let sends = isSecured && maySend && stream != nil
    guard sends != isSending else { return false }
    isSending = sends
    if sends { bitrate.start(now) }
    // At a new start, listeners assume no preferences.
    announcedPreferences = OpusPreferences()
    return true
  }

  /// The remote peer's preferences, if they differ from the last reported ones; once.
  package mutating func changedPreferences() -> OpusPreferences? {
    guard isSending, preferences != announcedPreferences else { return nil }
    announcedPreferences = preferences
    return preferences
  }

  /// Releases everything but the totals.
  package mutating func end() {
    final = statistics
    (isSending, maySend) = (false, false)
    stream = nil
  }

  // MARK: - Packets out

  /// Writes the packet of `frame` at the start of `datagram`, protected.
  /// - Returns: its length, 0 when nothing may leave; and its kind, nil when it carries no transport-wide number.
  @_lifetime(datagram: copy datagram)
  package mutating func write(
    _ frame: EncodedAudioFrame, into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields,
    over transport: inout Transport
  ) -> (count: Int, kind: SentPacket.Kind?) {
    guard isSending else { return (0, nil) }
    let count = transport.protectRTP(&datagram, count: stream!.write(frame, into: &datagram, at: moment))
    guard count > 0 else { return (0, nil) }
    stream!.countSent(bytes: count)
    return (count, stream!.usesTransportNumbers ? .audio : nil)
  }

  // MARK: - Reports of the remote peer

  /// Takes a receiver report on this audio.
  /// - Returns: the fraction lost, 0…1, if it has changed.
  package mutating func receive(_ block: ReportBlock) -> Double? {
    if let loss = reportedLoss.interval(to: block) {
      bitrate.report(expected: loss.expected, lost: loss.lost)
      noteLoss(Double(max(0, loss.lost)) / Double(loss.expected))
    }
    return stream?.report(fractionLost: Double(block.fractionLost) / 256, jitter: block.jitter) ?? nil
  }

  /// Packets are sent twice from the one loss on, until the other is reached.
  private mutating func noteLoss(_ latest: Double) {
    loss += (latest - loss) * Self.lossGain
    guard let stream, loss >= Self.redundancyOnset || loss < Self.redundancyEnd else { return }
    let isRedundant = loss >= Self.redundancyOnset
    if isRedundant != stream.isRedundant { self.stream!.setRedundant(isRedundant) }
  }
  private static let redundancyOnset = 0.03
  private static let redundancyEnd = 0.01
  /// Reports come about once in five seconds from a peer that receives sound alone, and each counts few packets.
  private static let lossGain = 0.5

  /// Performs everything that is due at `now`.
  /// - Returns: the encoding rate, if it has changed.
  package mutating func deadlineReached(_ now: Timestamp) -> BitRate? {
    bitrate.deadlineReached(now)
    guard bitrate.target != announcedBitrate else { return nil }
    announcedBitrate = bitrate.target
    return announcedBitrate
  }

  /// Our sender report; nil before anything was sent.
  package func senderReport(_ now: Timestamp, ntpTime: NTPTimestamp) -> SenderReport? {
    guard isSending, hasSent, let stream, let rtpTime = stream.rtpTimestamp(at: now) else { return nil }
    return SenderReport(
      sender: identity.ssrc, ntpTime: ntpTime, rtpTime: rtpTime,
      packetCount: UInt32(truncatingIfNeeded: stream.statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: stream.statistics.payloadBytesSent))
  }
}
