import RTCPrimitives
import RTCWire

/// What a peer remembers about the far side's media and reports, beside the packets.
struct IncomingVideo {
  /// The compact NTP time of the far sender's last report, and when it came (RFC 3550 §6.4.1, LSR and DLSR).
  var lastSenderReport: (time: CompactNTPTimestamp, arrival: Timestamp)?
  var senderClock: SenderClock?
  /// The far receiver's last report of our video.
  var lastReportBlock: ReportBlock?
  /// The last FIR command number served.
  var lastFIR: UInt8?
  /// When genuine traffic was last told to ICE.
  var heard = Timestamp(nanoseconds: .min / 2)
  /// How the far sender is asked for key frames.
  var keyFrameRequests = KeyFrameRequests()
  /// What the path bears, for a far sender without transport-wide feedback.
  var rate = ReceiveRateEstimate()
}
