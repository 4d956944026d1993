public import RTCEngine
public import RTCMedia
import RTCPage
public import RTCPrimitives

/// One second in the life of a broadcast: what DESIGN calls the `stats` fields, as values.
public struct BroadcastStatistics: Sendable {
  /// Time since the broadcast started.
  public var time = TimeDelta.zero
  /// Viewers, including those that are still connecting.
  public var viewers = 0
  /// Viewers, those still connecting included.
  public var sessions = 0
  /// The size of the encoded picture, in pixels; 0x0 before the first.
  public var size = PixelSize(width: 0, height: 0)
  /// Frames a second over the last interval.
  public var framesCaptured = 0.0
  /// A second.
  public var framesEncoded = 0.0
  /// Passed on as the source has them.
  public var framesPassed = 0.0
  /// Frames a second sent to the viewer that got the most.
  public var framesSent = 0.0
  /// Bits a second sent to all viewers together over the last interval.
  public var bitrate = BitRate.zero
  /// The share of sound in it.
  public var audioBitrate = BitRate.zero
  /// The encoder's target bitrate.
  public var target = BitRate.zero
  /// The bandwidth estimate of the viewer with the worst network, and its reason; nil without viewers.
  public var estimate: NetworkEstimate?
  /// The queueing delay of the viewer with the worst network; nil while unknown.
  public var queueingDelay: TimeDelta?
  /// The share of repair in all bytes of video sent: packets sent again and forward error correction, 0…1.
  public var repairShare = 0.0
  /// The round-trip time of the viewer with the worst network; nil without viewers.
  public var roundTripTime: TimeDelta?
  /// 0…1, of the viewer worst off, over the last second.
  public var loss = 0.0
  /// The share of audio packets lost, 0…1, in the last report of the worst listener.
  public var audioLoss = 0.0
  /// Totals over all viewers, those gone included.
  public var nackCount: UInt64 = 0
  /// Key-frame requests since the start.
  public var pliCount: UInt64 = 0
  /// Quantiser of the last frame, in the codec's scale.
  public var quantizer = 0
  /// Means over the last interval; zero when no frame was taken.
  public var captureTime = TimeDelta.zero
  /// The mean for a picture.
  public var convertTime = TimeDelta.zero
  /// The mean for a frame.
  public var encodeTime = TimeDelta.zero
  /// The mean, from the encoder to the socket.
  public var sendDelay = TimeDelta.zero
  /// Captured pictures that became no frame, since the start.
  public var leftOut = LeftOutPictures()
  /// Full-frame copies made beyond the one conversion, in all.
  public var rawCopies: UInt64 = 0
  /// The codec of the main rung.
  public var codec = VideoCodec.vp8
  /// The content hint: what the encoder preserves when bandwidth is short.
  public var contentHint = ContentHint.detail
  /// The main rung, and the side rung if there is one.
  public var rungs: [Rung] = []
  /// Moves from the side rung to the main rung, in all.
  public var handovers: UInt64 = 0
  /// Moves off the main rung, by reason, in all.
  public var moves: [RungReason: UInt64] = [:]
  /// Key frames that viewers needed, by reason (`begin`, `request`, `backlog`, `loss`), in all.
  public var keyFrameRequests: [String: UInt64] = [:]
  /// Each viewer's figures.
  public var peers: [Viewer] = []

  /// The output of one of the two encoders. The main rung serves viewers with enough bandwidth; the side rung serves
  /// viewers that join, lose too many packets, or are slow.
  public struct Rung: Sendable {
    /// Viewers that are on it.
    public var viewers = 0
    /// The target bitrate of its encoder; nil while no viewer uses it and nothing is encoded.
    public var target: BitRate?
    /// A second, over the last interval.
    public var framesEncoded = 0.0
    /// Over the last interval.
    public var bitrate = BitRate.zero
    /// In all.
    public var keyFrames: UInt64 = 0
  }

  /// How much of the picture one viewer's page has bit for bit, and why not more.
  public struct Exact: Sendable, Equatable {
    /// The page can be seen; else it is sent nothing.
    public var isVisible = false
    /// The share of the picture, 0…1, that the page has or that is on its way.
    public var share = 0.0
    /// The share of the picture, 0…1, that the page lacks and that is left to the video because it would take too many
    /// bytes.
    public var videoShare = 0.0
    /// Rectangles that it was sent since it came.
    public var rectangles: UInt64 = 0
    /// Pictures that it was told to make of moved pixels since it came.
    public var moves: UInt64 = 0
    /// Bytes of all these.
    public var bytes: UInt64 = 0
    /// Bytes that the page has not acknowledged.
    public var unacknowledgedBytes = 0
  }

  /// One viewer's network figures over the last interval.
  public struct Viewer: Sendable {
    /// The viewer's identifier, as in events.
    public var id: String
    /// The state of the viewer's peer connection.
    public var state: PeerState
    /// Local and remote address; nil before ICE has chosen.
    public var route: Route?
    /// A second.
    public var framesSent = 0.0
    /// Video sent, RTP payload and headers.
    public var bitrate = BitRate.zero
    /// Audio sent, the same.
    public var audioBitrate = BitRate.zero
    /// The target bitrate of the viewer's video.
    public var target = BitRate.zero
    /// The viewer's bandwidth estimate, its parts and its reason; nil before anything was sent.
    public var network: NetworkEstimate?
    /// Bytes of video sent, repair included, over the last interval.
    public var videoBytes: UInt64 = 0
    /// Bytes sent for repair: retransmissions and forward error correction. Part of the bytes above.
    public var repairBytes: UInt64 = 0
    /// By RTCP; nil before the first report.
    public var roundTripTime: TimeDelta?
    /// The share of video packets lost, 0…1.
    public var loss = 0.0
    /// The share of audio packets lost, 0…1.
    public var audioLoss = 0.0
    /// Packets requested again, since the start.
    public var nackCount: UInt64 = 0
    /// Key-frame requests since the start.
    public var pliCount: UInt64 = 0
    /// The mean, from the encoder to the socket.
    public var sendDelay = TimeDelta.zero
    /// 0: the main rung, 1: the side rung; nil where there are none.
    public var rung: Int?
    /// Why it is on that one.
    public var rungReason: RungReason?
    /// The exact pixels of the viewer's page; nil if the viewer is not one of rtcast's pages.
    public var exact: Exact?

    /// The share of repair in the bytes of video, 0…1.
    public var repairShare: Double { videoBytes == 0 ? 0 : Double(repairBytes) / Double(videoBytes) }

    /// A viewer without figures.
    public init(id: String, state: PeerState) {
      self.id = id
      self.state = state
    }
  }

  /// The defaults.
  public init() {}
}

extension BroadcastStatistics.Exact {
  init(_ viewer: ExactViewerStatistics) {
    (isVisible, share, videoShare) = (viewer.isVisible, viewer.share, viewer.videoShare)
    (rectangles, moves) = (viewer.rectangles, viewer.moves)
    (bytes, unacknowledgedBytes) = (viewer.bytes, viewer.unacknowledgedBytes)
  }
}
