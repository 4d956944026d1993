public import RTCPrimitives

/// What one outgoing video has done so far, and what the viewer last said of it.
public struct SendStatistics: Sendable {
  public var packetsSent: UInt64 = 0
  /// RTP payload bytes, as sender reports count them (RFC 3550 §6.4.1).
  public var payloadBytesSent: UInt64 = 0
  /// Bytes of whole datagrams, retransmissions included.
  public var bytesSent: UInt64 = 0
  public var framesSent: UInt64 = 0
  public var keyFramesSent: UInt64 = 0
  /// Frames left out because the viewer's network does not keep up, or because their codec was not agreed.
  public var framesSkipped: UInt64 = 0
  public var packetsRetransmitted: UInt64 = 0
  /// Packets asked for by NACK.
  public var nackedPackets: UInt64 = 0
  public var nackCount: UInt64 = 0
  public var pliCount: UInt64 = 0
  public var firCount: UInt64 = 0
  /// Sum over all frames of the time from hand-over to the last packet's leaving.
  public var sendDelay = TimeDelta.zero
  /// The viewer's last report: fraction lost 0…1, jitter in timestamp units.
  public var fractionLost = 0.0
  public var jitter: UInt32 = 0

  public init() {}
}

/// A snapshot of one peer for the statistics lines.
public struct PeerStatistics: Sendable {
  public var state = PeerState.new
  /// Of the first video we send.
  public var video = SendStatistics()
  /// Of the first sound we send.
  public var audio = AudioSendStatistics()
  public var roundTripTime: TimeDelta?
  public var targetBitrate = BitRate.zero
  /// Loss of the last whole second, 0…1.
  public var loss = 0.0
  public var selectedRoute: Route?
  public var srtpProfile: String?
  /// What the first video may be sent as, the best first; empty until it is agreed.
  public var videoFormats: [VideoPayloadFormat] = []
  /// The remote peer understands what `EncodedFrame.colorSpace` says; without it VP8 must be BT.601.
  public var supportsColorSpace = false
  public var framesReceived = 0
  public var packetsReceived = 0
  public var audioPacketsReceived = 0
  /// Every transceiver that ever sent or received something.
  public var streams: [StreamStatistics] = []
  /// What came in and was not used, by reason.
  public var drops = DropCounts()

  public init() {}
}

/// One transceiver's streams, both ways.
public struct StreamStatistics: Sendable {
  public var transceiver: TransceiverID
  public var kind: MediaKind
  /// What we send, of the kind.
  public var video: SendStatistics?
  public var audio: AudioSendStatistics?
  /// Nil while nothing is received.
  public var reception: Reception?

  /// What was received, since the remote sender last began anew.
  public struct Reception: Sendable {
    public var ssrc: SSRC
    public var packetsReceived = 0
    public var packetsLost = 0
    /// In units of the media's clock: 1/90 000 s for video, 1/48 000 s for sound.
    public var jitter: UInt32 = 0
    /// Whole pictures; 0 for sound.
    public var framesReceived = 0
    /// How loud the newest packet's sound is, 0 (silence)…1 as W3C's `audioLevel` counts; nil for video and where the
    /// sender does not say (RFC 6464).
    public var audioLevel: Double?
  }
}
