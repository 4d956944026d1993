import RTCPrimitives
import RTCWire

/// What a peer remembers about one video of the far side, beside the packets.
struct IncomingVideo {
  /// The compact NTP time of the far sender's last report, and when it came (RFC 3550 §6.4.1, LSR and DLSR).
  var lastSenderReport: (time: CompactNTPTimestamp, arrival: Timestamp)?
  var senderClock: SenderClock?
  /// How the far sender is asked for key frames.
  var keyFrameRequests = KeyFrameRequests()
  /// What the path bears, for a far sender without transport-wide feedback.
  var rate = ReceiveRateEstimate()
  /// When missing packets or a key frame are to be asked for.
  var repairDeadline = Timestamp.distantFuture
  var sources = SSRCSwitchGuard()
  /// The far side's sources that repair others, as its description says: what a repair stands for.
  var repairs: [(repair: SSRC, media: SSRC)] = []
  /// Memory for frames on their way out, empty in between.
  var frames: [ReceivedFrame] = []
}
