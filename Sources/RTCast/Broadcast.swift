public import RTCEngine
public import RTCMedia
import RTCNet
public import RTCPeer
import RTCPrimitives
public import RTCSignaling
import Synchronization

/// One source on its way to any number of viewers: captured once, encoded once, sent to each.
///
/// Every method may be called from any thread or task.
public final class Broadcast: Sendable {
  public struct Options: Sendable {
    /// The most pictures a second; fewer come when nothing changes.
    public var frameRate = 5.0
    /// What to ask of a source that can deliver any size; nil takes its first format.
    public var captureSize: PixelSize?
    /// Larger pictures are scaled down to fit; nil sends them as they are.
    public var maximumSize: PixelSize?
    public var codec = VideoCodec.vp8
    /// Nil: `detail` for a screencast, `motion` for everything else.
    public var contentHint: ContentHint?
    /// Of each viewer.
    public var bitrates = BitrateLimits()
    /// Viewers at a time, those that have only knocked included.
    public var maximumViewers = 1_024

    public init() {}
  }

  /// What happens to the broadcast, in order. One reader.
  public let events: AsyncStream<BroadcastEvent>
  /// Opens the door to WHEP viewers: hand it to a signaling server.
  public var whep: any WHEPSessions { viewers }

  let options: Options
  private let capturer: any VideoCapturer
  private let source: CapturedSource
  let viewers: ViewerRegistry
  private let continuation: AsyncStream<BroadcastEvent>.Continuation
  let report: @Sendable (BroadcastEvent) -> Void
  private let meter = Mutex(StatisticsMeter(started: MonotonicClock.now()))

  /// - Parameters:
  ///   - capturer: the source; started by `start`, not before.
  ///   - peers: the media plane, which several broadcasts may share.
  ///   - codecs: what can encode; see `CodecRegistry.standard`.
  public init(
    _ capturer: any VideoCapturer, options: Options = Options(), peers: PeerLoop,
    codecs: CodecRegistry = .standard
  ) {
    self.capturer = capturer
    self.options = options
    (events, continuation) = AsyncStream.makeStream(of: BroadcastEvent.self, bufferingPolicy: .bufferingNewest(1_024))
    let hint = options.contentHint ?? (capturer.isScreencast ? .detail : .motion)
    let continuation = continuation
    report = { continuation.yield($0) }
    source = CapturedSource(
      options: options, contentHint: hint, encoder: codecs.factory(for: options.codec), peers: peers,
      report: report)
    viewers = ViewerRegistry(
      peers: peers, source: source, options: options, report: report)
  }

  /// Starts the source and returns when it runs; viewers may come before or after.
  /// - Returns: what the source really delivers.
  public func start() async throws(CaptureError) -> VideoFormat {
    // A source that cannot be reached offers nothing; asked all the same, it says why.
    let nothing = VideoFormat(size: PixelSize(width: 0, height: 0), frameRates: 0...1_000, pixelFormat: .bgra)
    var format = capturer.supportedFormats.first ?? nothing
    if let size = options.captureSize { format.size = size }
    let rate = max(format.frameRates.lowerBound, min(format.frameRates.upperBound, options.frameRate))
    format.frameRates = min(rate, format.frameRates.lowerBound)...rate
    return try await source.start(capturer, format: format)
  }

  /// Says goodbye to every viewer and stops the source. Calling it again does nothing.
  public func stop() async {
    await viewers.closeAll()
    capturer.stopCapture()
    source.stop()
    continuation.finish()
  }

  /// A snapshot; rates and means are over the time since the call before.
  public func statistics() async -> BroadcastStatistics {
    let peers = await viewers.statistics()
    let pipeline = source.pipeline.statistics()
    let sessions = viewers.count
    return meter.withLock {
      $0.measure(
        now: MonotonicClock.now(), pipeline: pipeline, peers: peers, sessions: sessions, codec: options.codec)
    }
  }

  /// Asks for more or fewer bits per viewer, from now on.
  public func setBitrates(_ limits: BitrateLimits) async { await viewers.setBitrates(limits) }
}

/// What happens to a broadcast.
public enum BroadcastEvent: Sendable {
  /// A viewer is connected and is being sent the picture.
  case viewerJoined(id: String)
  case viewerLeft(id: String, EndReason)
  /// The source changed its size; viewers follow by themselves.
  case formatChanged(PixelSize)
  /// The source ended by itself.
  case ended(CaptureEnd)
  /// The connection to the service we publish to ended.
  case publishEnded(EndReason)
  /// The encoder refused; the sentence says why. The source goes on.
  case encoderFailed(String)
}
