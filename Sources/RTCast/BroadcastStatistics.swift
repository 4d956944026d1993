public import RTCEngine
public import RTCMedia
public import RTCPrimitives

/// One second in the life of a broadcast: what DESIGN calls the `stats` fields, as values.
public struct BroadcastStatistics: Sendable {
  /// Time since the broadcast started.
  public var time = TimeDelta.zero
  /// Viewers that are connected, and all that have knocked (those included).
  public var viewers = 0
  public var sessions = 0
  public var size = PixelSize(width: 0, height: 0)
  /// Frames a second over the last interval.
  public var framesCaptured = 0.0
  public var framesEncoded = 0.0
  /// Passed on as the source has them.
  public var framesPassed = 0.0
  /// Frames a second sent to the viewer that got the most.
  public var framesSent = 0.0
  /// Bits a second sent to all viewers together over the last interval.
  public var bitrate = BitRate.zero
  /// The share of sound in it.
  public var audioBitrate = BitRate.zero
  /// What the encoder aims at.
  public var target = BitRate.zero
  /// Of the viewer worst off; nil without viewers.
  public var roundTripTime: TimeDelta?
  /// 0…1, of the viewer worst off, over the last second.
  public var loss = 0.0
  /// Of sound, as the worst listener's last report has it, 0…1.
  public var audioLoss = 0.0
  /// Totals over all viewers, those gone included.
  public var nackCount: UInt64 = 0
  public var pliCount: UInt64 = 0
  /// Quantiser of the last frame, in the codec's scale.
  public var quantizer = 0
  /// Means over the last interval; zero when no frame was taken.
  public var captureTime = TimeDelta.zero
  public var convertTime = TimeDelta.zero
  public var encodeTime = TimeDelta.zero
  public var sendDelay = TimeDelta.zero
  /// Full-frame copies made beyond the one conversion, in all.
  public var rawCopies: UInt64 = 0
  public var codec = VideoCodec.vp8
  public var contentHint = ContentHint.detail
  public var peers: [Viewer] = []

  /// One viewer's network figures over the last interval.
  public struct Viewer: Sendable {
    public var id: String
    public var state: PeerState
    public var route: Route?
    public var framesSent = 0.0
    public var bitrate = BitRate.zero
    public var audioBitrate = BitRate.zero
    public var target = BitRate.zero
    public var roundTripTime: TimeDelta?
    public var loss = 0.0
    public var audioLoss = 0.0
    public var nackCount: UInt64 = 0
    public var pliCount: UInt64 = 0
    public var sendDelay = TimeDelta.zero

    public init(id: String, state: PeerState) {
      self.id = id
      self.state = state
    }
  }

  public init() {}
}
