public import RTCMedia
public import RTCPrimitives
import Synchronization

/// One source, coded once for however many watch: takes a capturer's frames, converts and encodes them on the capturer's
/// thread, and hands the result to a sink. A thread of its own answers key-frame requests and improves the picture while
/// the source rests; it sleeps when there is neither.
///
/// The sink is called from both threads, never at once and in the frames' order; it should only pass the frame on. All
/// methods may be called from any thread and return at once, `consume` excepted, which takes as long as the work.
public final class VideoPipeline: VideoConsumer, Sendable {
  private let core: PipelineCore

  /// - Parameters:
  ///   - sink: gets every encoded frame.
  ///   - events: gets everything else worth knowing, from the thread it happens on.
  public init(
    settings: PipelineSettings, makeEncoder: @escaping VideoEncoderFactory,
    sink: @escaping @Sendable (EncodedFrame) -> Void,
    events: @escaping @Sendable (PipelineEvent) -> Void = { _ in }
  ) {
    let core = PipelineCore(settings: settings, makeEncoder: makeEncoder, sink: sink, events: events)
    self.core = core
    Waiter.startThread { core.serveUntilStopped() }
  }

  deinit { core.stop() }

  /// Ends the service thread. Frames that come later are ignored; one that is being coded may still reach the sink.
  public func stop() { core.stop() }

  /// Asks for a key frame: it comes at once, or one frame interval after the last. All requests until then are served
  /// by it.
  public func requestKeyFrame() { core.order { $0.wantsKeyFrame = true } }

  /// Sets the rate to stay within, itself kept within the settings' bounds.
  public func setTargetBitrate(_ rate: BitRate) { core.change { $0.bitrate = rate } }

  /// Changes what gives way first; holds from the next captured frame on.
  public func setContentHint(_ hint: ContentHint) { core.change { $0.contentHint = hint } }

  /// Changes what `setTargetBitrate` is kept within.
  public func setBitrates(_ bitrates: ClosedRange<BitRate>) { core.change { $0.bitrates = bitrates } }

  /// The most frames a second the source delivers from now on.
  public func setMaxFrameRate(_ rate: Double) { core.change { $0.maxFrameRate = rate } }

  /// Says whether every viewer can be told of another matrix than BT.601; then such pictures are not converted first.
  public func setKeepsColorSpace(_ keeps: Bool) { core.change { $0.keepsColorSpace = keeps } }

  /// Another source follows: nothing of the picture before is the same, and a key frame comes with the first of the new.
  public func sourceChanged() { core.sourceChanged() }

  /// Says whether anybody watches. Otherwise nothing is encoded; the picture is still kept up to date, so that the first
  /// frame after `setActive(true)`, a key frame, comes at once even when the source rests.
  public func setActive(_ isActive: Bool) { core.order { $0.isActive = isActive } }

  /// Totals up to now.
  public func statistics() -> PipelineStatistics { core.currentStatistics() }

  // MARK: - VideoConsumer

  public func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    switch result {
    case .success(let format): core.events(.captureStarted(format))
    case .failure(let error): core.events(.captureFailed(error))
    }
  }

  public func consume(_ frame: VideoFrame) { core.consume(frame) }

  public func captureDidEnd(_ reason: CaptureEnd) { core.events(.captureEnded(reason)) }
}

/// What the pipeline and its thread share; the thread must not keep the pipeline itself alive.
private final class PipelineCore: Sendable {
  private struct Desk {
    var orders: EncoderControls
    var isOpen = true
  }

  let events: @Sendable (PipelineEvent) -> Void
  private let sink: @Sendable (EncodedFrame) -> Void
  /// Held through conversion and encoding.
  private let stage: Mutex<EncodeStage>
  /// Held for moments only, so that nobody who orders or asks waits for an encode.
  private let desk: Mutex<Desk>
  private let published = Mutex(PipelineStatistics())
  private let bell = Waiter()

  init(
    settings: PipelineSettings, makeEncoder: @escaping VideoEncoderFactory,
    sink: @escaping @Sendable (EncodedFrame) -> Void, events: @escaping @Sendable (PipelineEvent) -> Void
  ) {
    self.sink = sink
    self.events = events
    stage = Mutex(
      EncodeStage(settings: settings, makeEncoder: makeEncoder, clock: { monotonicNow() }, report: events))
    desk = Mutex(Desk(orders: EncoderControls(settings)))
  }

  /// Changes what holds from the next frame on.
  func change(_ body: (inout EncoderControls) -> Void) { desk.withLock { body(&$0.orders) } }

  /// Changes what should be acted on at once.
  func order(_ body: (inout EncoderControls) -> Void) {
    change(body)
    bell.ring()
  }

  func sourceChanged() {
    stage.withLock { $0.sourceChanged() }
    change { $0.wantsKeyFrame = true }
  }

  func stop() {
    desk.withLock { $0.isOpen = false }
    bell.ring()
  }

  func currentStatistics() -> PipelineStatistics {
    var result = published.withLock { $0 }
    result.time = monotonicNow()
    return result
  }

  func consume(_ frame: VideoFrame) {
    let deadline = perform { $0.consume(frame) }
    if let deadline { bell.ring(ifAsleepAfter: deadline) }
  }

  func serveUntilStopped() {
    while desk.withLock({ $0.isOpen }) { bell.wait(until: perform { $0.serve() }) }
  }

  /// Works on the stage by the newest orders and passes the result on; returns when the service thread is needed.
  private func perform(_ work: (inout EncodeStage) -> EncodedFrame?) -> Timestamp? {
    stage.withLock { stage in
      let orders: EncoderControls? = desk.withLock { desk in
        guard desk.isOpen else { return nil }
        defer { desk.orders.wantsKeyFrame = false }
        return desk.orders
      }
      guard let orders else { return nil }
      stage.obey(orders)
      let encoded = work(&stage)
      // It leaves after every request that has come until now, and serves whoever made one while it was in the making.
      if let encoded, encoded.isKeyFrame { desk.withLock { $0.orders.wantsKeyFrame = false } }
      // First, so that whoever has a frame finds it counted.
      published.withLock { $0 = stage.statistics }
      // Within the lock, so that frames reach the sink in their order.
      if let encoded { sink(encoded) }
      return stage.nextDeadline()
    }
  }
}
