import RTCEngine
import RTCMedia
import RTCPeer
import RTCPrimitives
import Synchronization

/// The pictures that go out: encoded here, passed on as the source has them, or both at once for different viewers.
final class OutgoingVideo: Sendable {
  let pipeline: VideoPipeline
  let track: OutgoingVideoTrack

  private struct State {
    /// Where the source's own pictures go; nil when they are encoded here.
    var passthrough: Passthrough?
    var lastRendition = Rendition.encoded
    var demand = RenditionDemand()
    /// Viewers are connected.
    var isWatched = false
    /// What the present source's own pictures came to.
    var passed: PassedPictures?
  }

  /// A viewer waits this long for a key frame of the source at most.
  static let keyFramePatience = TimeDelta.seconds(2)

  private let options: Broadcast.Options
  private let sinks: EncodedMediaSinks
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state = Mutex(State())

  init(
    options: Broadcast.Options, contentHint: ContentHint, codecs: CodecRegistry, peers: PeerLoop,
    sinks: EncodedMediaSinks, report: @escaping @Sendable (BroadcastEvent) -> Void
  ) {
    self.options = options
    self.sinks = sinks
    self.report = report
    let late = Late<OutgoingVideo>()
    let limits = options.bitrates
    pipeline = VideoPipeline(
      settings: PipelineSettings(
        contentHint: contentHint, maxFrameRate: options.frameRate, startBitrate: limits.start,
        bitrates: limits.minimum...limits.maximum, sizeLimit: options.maximumSize, isActive: false),
      makeEncoder: codecs.factory(for: options.codec), sink: { late.value?.send($0) },
      events: { event in Self.sentence(for: event).map(report) })
    track = peers.makeVideoTrack(
      renditions: [RenditionFormat(.encoded, VideoPayloadFormat(codec: options.codec))],
      onKeyFrameRequest: { late.value?.keyFrameRequested(of: $0) ?? .coming },
      onDemandChanged: { late.value?.demandChanged($0) })
    late.value = self
  }

  /// What viewers are to agree on, the best first: what the source has, and what we can make.
  var formats: [VideoPayloadFormat] {
    var formats = [VideoPayloadFormat(codec: options.codec)]
    if let own = state.withLock({ $0.passthrough?.format }) { formats.insert(VideoPayloadFormat(own), at: 0) }
    for format in options.offeredFormats.map(VideoPayloadFormat.init) where !formats.contains(format) {
      formats.append(format)
    }
    return formats
  }

  // MARK: - Source

  /// The pictures come from `capturer` from now on: passed on when it can and may, otherwise encoded.
  func follow(_ capturer: (any VideoCapturer)?) {
    let source = options.passesThrough ? capturer as? any EncodedVideoCapturer : nil
    guard let source, let format = source.encodedFormat else { return endPassthrough() }
    let (passthrough, old) = state.withLock { state -> (Passthrough, Passthrough?) in
      defer { state.lastRendition = Rendition(state.lastRendition.number + 1) }
      let new = Passthrough(
        source, format: format, rendition: Rendition(state.lastRendition.number + 1),
        send: { [weak self] in self?.send($0) },
        ended: { [weak self] in self?.passthroughEnded($0) })
      defer { state.passthrough = new }
      state.passed = PassedPictures(codec: format.codec, size: format.size, frames: state.passed?.frames ?? 0)
      return (new, state.passthrough)
    }
    old?.end()
    track.setRenditions(
      [
        RenditionFormat(passthrough.rendition, VideoPayloadFormat(format)),
        RenditionFormat(.encoded, VideoPayloadFormat(codec: options.codec)),
      ], preferred: passthrough.rendition)
    adapt()
    passthrough.begin()
  }

  private func endPassthrough() {
    let old = state.withLock { state in
      defer { state.passthrough = nil }
      state.passed = nil
      return state.passthrough
    }
    guard let old else { return }
    old.end()
    track.setRenditions([RenditionFormat(.encoded, VideoPayloadFormat(codec: options.codec))], preferred: nil)
    adapt()
  }

  /// The source found pictures that cannot be passed on; on its thread.
  private func passthroughEnded(_ rendition: Rendition) {
    guard state.withLock({ $0.passthrough?.rendition == rendition }) else { return }
    report(.transcoding(nextKeyFrame: nil))
    endPassthrough()
  }

  private func send(_ frame: EncodedFrame) {
    track.send(frame)
    let recorded = state.withLock { state in
      if frame.rendition != .encoded { state.passed?.frames += 1 }
      return state.passthrough?.rendition ?? .encoded
    }
    if frame.rendition == recorded { sinks.send(frame) }
  }

  /// Nil while all pictures are encoded here.
  var passed: PassedPictures? { state.withLock { $0.passed } }

  func requestKeyFrame() { pipeline.requestKeyFrame() }

  func stop() {
    state.withLock { $0.passthrough }?.end()
    pipeline.stop()
  }

  // MARK: - Demand

  func setWatched(_ isWatched: Bool) {
    state.withLock { $0.isWatched = isWatched }
    adapt()
  }

  private func demandChanged(_ demand: RenditionDemand) {
    state.withLock { $0.demand = demand }
    adapt()
  }

  /// Decodes and encodes while somebody takes the result.
  private func adapt() {
    let isRecorded = !sinks.isEmpty
    // Within the lock, so that the newest demand is the one that stays.
    state.withLock { state in
      let isEncodingRecorded = isRecorded && state.passthrough == nil
      let isWanted = isEncodingRecorded || (state.isWatched && state.demand.renditions.contains(.encoded))
      state.passthrough?.source.setDecoding(isWanted)
      pipeline.setKeepsColorSpace(!state.demand.withoutColorSpace.contains(.encoded))
      pipeline.setActive(isWanted)
    }
  }

  /// On the loop.
  private func keyFrameRequested(of rendition: Rendition) -> KeyFrameAnswer {
    let passthrough = state.withLock { $0.passthrough }
    guard let passthrough, rendition == passthrough.rendition else {
      pipeline.requestKeyFrame()
      return .coming
    }
    let wait = passthrough.source.timeToNextKeyFrame()
    if let wait, wait <= Self.keyFramePatience {
      report(.keyFrameAwaited(wait))
      return .coming
    }
    report(.transcoding(nextKeyFrame: wait))
    return .move(to: .encoded)
  }

  private static func sentence(for event: PipelineEvent) -> BroadcastEvent? {
    switch event {
    case .captureStarted, .captureFailed, .captureEnded: nil
    case .sizeChanged(let size): .formatChanged(size)
    case .encoderFailed(let error): .encoderFailed("The encoder refused a frame: \(error).")
    case .conversionFailed(let status):
      .encoderFailed("A frame could not be converted (libyuv status \(status)).")
    }
  }
}

/// Pictures passed on as the source has them.
struct PassedPictures: Sendable {
  var codec: VideoCodec
  var size: PixelSize
  var frames: UInt64
}

/// The pictures of one source as it has them, under a rendition of their own.
private final class Passthrough: EncodedVideoConsumer, Sendable {
  let source: any EncodedVideoCapturer
  let format: EncodedVideoFormat
  let rendition: Rendition
  private let send: @Sendable (EncodedFrame) -> Void
  private let ended: @Sendable (Rendition) -> Void

  init(
    _ source: any EncodedVideoCapturer, format: EncodedVideoFormat, rendition: Rendition,
    send: @escaping @Sendable (EncodedFrame) -> Void, ended: @escaping @Sendable (Rendition) -> Void
  ) {
    self.source = source
    self.format = format
    self.rendition = rendition
    self.send = send
    self.ended = ended
  }

  func passthroughDidEnd(_ sentence: String) { ended(rendition) }

  func begin() { source.setPassthrough(to: self) }

  func end() {
    source.setPassthrough(to: nil)
    source.setDecoding(true)
  }

  func consume(_ frame: EncodedFrame) {
    var frame = frame
    frame.rendition = rendition
    send(frame)
  }
}

/// Everything besides viewers that takes encoded frames.
final class EncodedMediaSinks: Sendable {
  private let sinks = Mutex<[any EncodedMediaSink]>([])

  var isEmpty: Bool { sinks.withLock { $0.isEmpty } }
  func add(_ sink: any EncodedMediaSink) { sinks.withLock { $0.append(sink) } }
  func send(_ frame: EncodedFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
  func send(_ frame: EncodedAudioFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
}

/// Holds weakly what is made after the closures that need it.
final class Late<Value: AnyObject & Sendable>: Sendable {
  private struct Reference {
    weak var value: Value?
  }
  private let reference = Mutex(Reference())

  var value: Value? {
    get { reference.withLock { $0.value } }
    set { reference.withLock { $0.value = newValue } }
  }
}
