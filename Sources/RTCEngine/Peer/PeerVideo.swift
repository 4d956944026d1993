import RTCPrimitives
import RTCWire

/// What a peer knows of the video of one transceiver, both ways.
struct PeerVideo {
  let id: TransceiverID
  var identity: SendStreamIdentity
  /// As packets carry it.
  var mid: RTPStreamID?
  /// As agreed.
  var direction = MediaDirection.inactive
  /// What is to be sent; nil: nothing for now.
  var track: TrackName?
  /// True while the owner of the track lets it rest.
  var isMuted = false
  /// True once `.sendingStarted` was told, until it ends.
  var isSending = false

  // Sending.
  /// There since it was first agreed to send; keeps the numbers going over pauses.
  var sender: VideoSendStream?
  /// What left, for a far side without RTX.
  var sentPackets: SentPacketCache?
  /// When the last media packet left.
  var lastMediaSent = Timestamp.zero
  /// The `lastMediaSent` of the rest in which a key frame request was let pass.
  var impatientSince: Timestamp?
  var tail = Tail()
  /// When a key frame was last asked of the source, so that impatient viewers do not ask for one per packet.
  var keyFrameRequested = Timestamp(nanoseconds: .min / 2)
  /// When it may be asked again for a viewer who has lost the last one.
  var keyFrameDue = Timestamp.distantFuture
  var announcedBitrate = BitRate.zero
  /// What the far side wants to be sent at most.
  var ceiling: BitRate?
  /// The far receiver's last report of it.
  var lastReportBlock: ReportBlock?
  /// The last FIR command number served.
  var lastFIR: UInt8?
  /// What was sent in a life that has ended.
  var final = SendStatistics()

  // Receiving.
  /// How it is numbered, once that is agreed.
  var agreement: VideoAgreement?
  var receiver: VideoReceiveStream?
  var incoming = IncomingVideo()

  /// The watch over the last packets sent, which may be lost without the viewer's knowing.
  struct Tail {
    /// How often they were sent again in vain.
    var attempts = 0
    var deadline = Timestamp.distantFuture
    /// `lastMediaSent` when the watch began.
    var watched = Timestamp.zero
  }

  init(id: TransceiverID, identity: SendStreamIdentity, track: TrackName?) {
    self.id = id
    self.identity = identity
    self.track = track
  }

  /// Takes a share of the bitrate.
  var isActive: Bool { isSending && track != nil && !isMuted }

  var statistics: SendStatistics { sender?.statistics ?? final }
  var hasSent: Bool { statistics.packetsSent > 0 }

  /// Lets go of everything but the account.
  mutating func end() {
    final = statistics
    isSending = false
    direction = .inactive
    sender = nil
    sentPackets = nil
    agreement = nil
    receiver = nil
    tail.deadline = .distantFuture
    keyFrameDue = .distantFuture
    incoming.repairDeadline = .distantFuture
  }
}
