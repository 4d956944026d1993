import RTCPrimitives
import RTCWire

/// What a peer knows of the sound of one transceiver, both ways.
struct PeerAudio {
  let id: TransceiverID
  var identity: AudioSendIdentity
  /// As packets carry it.
  var mid: RTPStreamID?
  /// As agreed.
  var direction = MediaDirection.inactive
  /// What is to be sent; nil: nothing for now.
  var track: TrackName?
  var isMuted = false
  /// True once `.sendingStarted` was told, until it ends.
  var isSending = false

  /// What the far side asks of our Opus, as agreed and as last told.
  var wishes = OpusPreferences()
  private var toldWishes = OpusPreferences()

  /// There since it was first agreed to send; keeps the numbers going over pauses.
  var sender: AudioSendStream?
  /// How incoming sound is numbered, once that is agreed.
  var agreement: AudioAgreement?
  var receiver: AudioReceiveStream?
  /// When the receiver last changed to another source.
  var sources = SSRCSwitchGuard()
  /// What the far sender last said of its clocks, and when.
  var lastSenderReport: (clock: SenderClock, arrival: Timestamp)?
  /// Steps by what the listener reports lost.
  var bitrate: LossBasedBitrate
  private var announcedBitrate = BitRate.zero
  /// The listener's last report.
  private var lastReport: ReportBlock?
  /// What was sent in a life that has ended.
  var final = AudioSendStatistics()

  init(id: TransceiverID, identity: AudioSendIdentity, track: TrackName?, bitrates: BitrateLimits) {
    self.id = id
    self.identity = identity
    self.track = track
    bitrate = LossBasedBitrate(limits: bitrates)
  }

  /// Counts what the listener says arrived since its last report.
  mutating func noteLoss(_ block: ReportBlock) {
    if let lastReport {
      let expected = Int(block.highestSequenceNumber) - Int(lastReport.highestSequenceNumber)
      let lost = Int(block.cumulativeLost) - Int(lastReport.cumulativeLost)
      if (1..<65_536).contains(expected) { bitrate.report(expected: expected, lost: lost) }
    }
    lastReport = block
  }

  /// Closes one second; the rate to encode at when it is another than before.
  mutating func tick() -> BitRate? {
    guard sender != nil, direction.sends else { return nil }
    bitrate.tick()
    guard bitrate.current != announcedBitrate else { return nil }
    announcedBitrate = bitrate.current
    return announcedBitrate
  }

  /// What the far side asks for, where that is another than was told since sending began.
  mutating func takeWishes() -> OpusPreferences? {
    guard isSending, wishes != toldWishes else { return nil }
    toldWishes = wishes
    return wishes
  }

  /// Whoever is told of a new beginning takes it that nothing is asked for.
  mutating func forgetWishes() { toldWishes = OpusPreferences() }

  var statistics: AudioSendStatistics { sender?.statistics ?? final }
  var hasSent: Bool { statistics.packetsSent > 0 }

  /// Lets go of everything but the account.
  mutating func end() {
    final = statistics
    isSending = false
    direction = .inactive
    sender = nil
    agreement = nil
    receiver = nil
  }
}

/// What offer and answer came to for the sound we receive.
struct AudioAgreement {
  var payloadType: PayloadType
  var extensionMap: RTPHeaderExtensionMap
  /// What both sides use of RTCP feedback.
  var feedback: FeedbackMechanisms
}
