package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The sending direction of an audio transceiver: packets, its own bitrate, reports and statistics.
package struct AudioSender {
  package let id: TransceiverID
  package private(set) var identity: AudioSendIdentity
  /// What is to be sent; nil: nothing for now.
  package private(set) var track: TrackName?
  /// True while what it is given to send leaves.
  package private(set) var isSending = false
  /// What the remote peer asks of our Opus, as agreed.
  package private(set) var preferences = OpusPreferences()
  private var announcedPreferences = OpusPreferences()
  /// As agreed.
  private var maySend = false
  /// There since it was first agreed to send; keeps the numbers going over pauses.
  private var stream: AudioSendStream?
  /// Steps by what the listener reports lost.
  private var bitrate: SteppedBitrate
  private var announcedBitrate = BitRate.zero
  private var reportedLoss = ReportedLoss()
  /// Packet loss by the last reports, 0…1.
  private var loss = 0.0
  /// What was sent in a life that has ended.
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

  /// Another number, for a sender that has not begun.
  package mutating func setSource(_ ssrc: SSRC) { identity.ssrc = ssrc }

  /// Puts to work what was agreed; nil: the m-section is gone.
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

  /// Begins or ends sending where what was agreed, or the state of the transport, says so.
  /// - Returns: true when that has changed.
  package mutating func updateSending(isSecured: Bool, now: Timestamp) -> Bool {
    let sends = isSecured && maySend && stream != nil
    guard sends != isSending else { return false }
    isSending = sends
    if sends { bitrate.start(now) }
    // Whoever is told of a new beginning takes it that nothing is asked for.
    announcedPreferences = OpusPreferences()
    return true
  }

  /// What the remote peer asks for, where that is another than was told since sending began; told once.
  package mutating func changedPreferences() -> OpusPreferences? {
    guard isSending, preferences != announcedPreferences else { return nil }
    announcedPreferences = preferences
    return preferences
  }

  /// Lets go of everything but the account.
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

  // MARK: - What the remote peer says

  /// Takes what a receiver report says of this sound.
  /// - Returns: the fraction lost when it is another than before, 0…1.
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

  /// Does what is due at `now`.
  /// - Returns: the rate to encode at when it is another than before.
  package mutating func deadlineReached(_ now: Timestamp) -> BitRate? {
    bitrate.deadlineReached(now)
    guard bitrate.target != announcedBitrate else { return nil }
    announcedBitrate = bitrate.target
    return announcedBitrate
  }

  /// Our own report on what was sent; nil while nothing was.
  package func senderReport(_ now: Timestamp, ntpTime: NTPTimestamp) -> SenderReport? {
    guard isSending, hasSent, let stream, let rtpTime = stream.rtpTimestamp(at: now) else { return nil }
    return SenderReport(
      sender: identity.ssrc, ntpTime: ntpTime, rtpTime: rtpTime,
      packetCount: UInt32(truncatingIfNeeded: stream.statistics.packetsSent),
      octetCount: UInt32(truncatingIfNeeded: stream.statistics.payloadBytesSent))
  }
}
