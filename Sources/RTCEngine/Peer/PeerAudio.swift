package import RTCPrimitives
package import RTCWire

/// What a peer knows of the sound it sends and receives.
struct PeerAudio {
  let identity: AudioSendIdentity
  var sender: AudioSendStream?
  /// How incoming sound is numbered, once that is agreed.
  var agreement: AudioAgreement?
  var receiver: AudioReceiveStream?
  /// What the far sender last said of its clocks, and when.
  var lastSenderReport: (clock: SenderClock, arrival: Timestamp)?
  /// Steps by what the listener reports lost.
  var bitrate: LossBasedBitrate
  private var announcedBitrate = BitRate.zero
  /// The listener's last report.
  private var lastReport: ReportBlock?
  /// What was sent in a life that has ended.
  var final = AudioSendStatistics()

  /// - Parameter video: whose number must not be drawn again.
  init(using random: inout SeededGenerator, beside video: SendStreamIdentity, bitrates: BitrateLimits) {
    var ssrc = SSRC(UInt32(truncatingIfNeeded: random.next()))
    while ssrc == video.ssrc || ssrc == video.rtxSSRC { ssrc = SSRC(UInt32(truncatingIfNeeded: random.next())) }
    identity = AudioSendIdentity(
      ssrc: ssrc, cname: video.cname,
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())))
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
    guard sender != nil else { return nil }
    bitrate.tick()
    guard bitrate.current != announcedBitrate else { return nil }
    announcedBitrate = bitrate.current
    return announcedBitrate
  }

  var statistics: AudioSendStatistics { sender?.statistics ?? final }
  var hasSent: Bool { statistics.packetsSent > 0 }

  /// Lets go of everything but the numbers.
  mutating func end() {
    final = statistics
    sender = nil
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

/// One moment on a far sender's two clocks (RFC 3550 §6.4.1): how sound and picture are brought together.
package struct SenderClock: Hashable, Sendable {
  package var ntpTime: NTPTimestamp
  package var rtpTime: RTPTimestamp

  package init(ntpTime: NTPTimestamp, rtpTime: RTPTimestamp) {
    self.ntpTime = ntpTime
    self.rtpTime = rtpTime
  }
}
