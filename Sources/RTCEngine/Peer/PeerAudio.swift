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
  /// What was sent in a life that has ended.
  var final = AudioSendStatistics()

  init(identity: AudioSendIdentity) { self.identity = identity }

  /// - Parameter video: whose number must not be drawn again.
  init(using random: inout SeededGenerator, beside video: SendStreamIdentity) {
    var ssrc = SSRC(UInt32(truncatingIfNeeded: random.next()))
    while ssrc == video.ssrc || ssrc == video.rtxSSRC { ssrc = SSRC(UInt32(truncatingIfNeeded: random.next())) }
    identity = AudioSendIdentity(
      ssrc: ssrc, cname: video.cname,
      firstSequenceNumber: SequenceNumber(UInt16(truncatingIfNeeded: random.next()) & 0x7FFF),
      timestampOffset: RTPTimestamp(UInt32(truncatingIfNeeded: random.next())))
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
}
