public import RTCEngine
public import RTCMedia
import RTCNet
public import RTCPeer
public import RTCPrimitives
public import RTCSignaling
import Synchronization

/// A broadcast of one source to any number of viewers. The source is captured once, encoded once, and sent to each
/// viewer.
///
/// The broadcast ends when nothing references it any more, as if `stop` had been called: the source is stopped, viewers
/// are notified, and `events` ends. Only `stop` returns when that is done, so that the source may be used again.
///
/// Every method may be called from any thread or task.
public final class Broadcast: Sendable {
  /// How a source is sent.
  public struct Options: Sendable {
    /// The most pictures a second; fewer come when nothing changes.
    public var frameRate = 5.0
    /// The size to ask of a source that can deliver any size; nil takes the source's first format.
    public var captureSize: PixelSize?
    /// Larger pictures are scaled down to fit; nil sends them as they are.
    public var maximumSize: PixelSize?
    /// The codec that pictures are encoded with; the registry must have it. Viewers that cannot decode it are sent VP8,
    /// or H.264 if they decode nothing else and the registry has it.
    public var codec = VideoCodec.vp8
    /// The chroma sampling of encoded pictures. If the codec's encoder does not support it, 4:2:0 is used.
    public var chroma = ChromaSampling.quarter
    /// In which parts a viewer, or a server between, may have the stream: VP9 alone has layers.
    public var scalabilityMode = ScalabilityMode.l1t1
    /// The measured costs of encoding (see `CodecRegistry.measureCosts`). If set, `codec` and `chroma` are initial
    /// values, and rtcast changes them with the viewers, the content and the load. Nil: both are fixed.
    public var codecCosts: CodecCosts?
    /// Nil: `detail` for a screencast, `motion` for everything else.
    public var contentHint: ContentHint?
    /// Send the pictures and the sound of a source that is encoded already as they are, to viewers that can take them.
    public var passesThrough = true
    /// If true, a source that can wait at its beginning, such as a file, waits until a viewer can receive it. Use it
    /// for a broadcast to a single receiver. If false, the source starts at once, and later viewers join in the middle.
    public var waitsForReceiver = false
    /// Whether viewers are admitted after the source has ended, because the application continues with `replaceSource`.
    public var outlivesSource = false
    /// Formats that viewers are asked to support in addition, for sources that may follow later.
    public var offeredFormats: [EncodedVideoFormat] = []
    /// The bitrate limits of the picture for each viewer.
    public var bitrates = BitrateLimits()
    /// How sound is encoded; its bitrate follows what listeners lose, within `audioBitrates`.
    public var audio = AudioEncoderSettings()
    /// Bounds and steps of the audio bitrate for each viewer.
    public var audioBitrates = BitrateLimits.audio
    /// How each viewer's bitrate follows the network.
    public var rateControl = RateControlAlgorithm.gcc
    /// Receives the feedback and decisions of all viewers' bandwidth estimators; nil: none. The application closes it.
    public var rateLog: RateLog?
    /// Whether viewers are offered sound. If false, the broadcast has no sound, whatever source follows. If true, it is
    /// silent while its source has no sound. Nil: as the first source has it.
    public var offersAudio: Bool?
    /// STUN and TURN servers offered to viewers, with credentials. The local servers belong to `PeerLoop`'s
    /// configuration.
    public var iceServers: [ICEServer] = []
    /// Whether still parts of a screen are sent bit for bit to rtcast's viewer pages, and the whole picture to requests
    /// for `/snapshot.webp`.
    public var sendsExactPixels = true
    /// The processor time of this process, as a share of one core (0.01 or more), above which no exact pixels are
    /// encoded. Video is not affected. Nil: no limit.
    public var processorLimit: Double?
    /// Whether pages of ours draw the pointer themselves, while all viewers are such pages; else it is always in the picture.
    public var letsPagesDrawCursor = true
    /// Change the pictures before anything reads them, in this order; see `PictureStage`.
    package var pictureStages: [any PictureStage] = []
    /// Decides about each viewer; nil: all are admitted, as long as there is room.
    package var admission: (any ViewerAdmission)?
    /// Features of viewers' pages beside rtcast's own.
    package var pageFeatures: [any PageFeature] = []
    /// Maximum number of viewers, including those that are still connecting.
    public var maximumViewers = 1_024

    /// The defaults.
    public init() {}
  }

  /// Events of the broadcast, in order. For one reader.
  public let events: AsyncStream<BroadcastEvent>
  /// The WHEP endpoint, for a signaling server. It does not keep the broadcast alive: when the broadcast has ended,
  /// requests are refused with that reason.
  public var whep: any WHEPSessions { viewers }

  let options: Options
  let viewers: ViewerRegistry
  let publications = Publications()
  let report: @Sendable (BroadcastEvent) -> Void
  private let media: OutgoingMedia
  private let page: PageFeatures
  /// The source to begin with.
  private let source: MediaSource
  private let continuation: AsyncStream<BroadcastEvent>.Continuation
  private let meter = Mutex(StatisticsMeter(started: MonotonicClock.now()))
  private let frameRate: Mutex<Double>
  /// True once `stop` was called, so that `deinit` has nothing left to end.
  private let isStopped = Atomic(false)

  /// - Parameters:
  ///   - source: pictures, sound or both; started by `start`, not before.
  ///   - peers: the media plane; several broadcasts may share it.
  ///   - codecs: the available encoders; see `CodecRegistry.standard`.
  public init(
    _ source: MediaSource, options: Options = Options(), peers: PeerLoop, codecs: CodecRegistry = .standard
  ) {
    self.source = source
    self.options = options
    frameRate = Mutex(options.frameRate)
    (events, continuation) = AsyncStream.makeStream(of: BroadcastEvent.self, bufferingPolicy: .bufferingNewest(1_024))
    let continuation = continuation
    report = { continuation.yield($0) }
    let isScreen = source.video?.isScreencast ?? false
    let exact =
      options.sendsExactPixels
      ? ExactPixels(
        ExactPixels.Options(maximumSize: options.maximumSize, cpuLimit: options.processorLimit), isScreen: isScreen,
        report: report) : nil
    let features: [(any PageFeature)?] = [
      exact, options.letsPagesDrawCursor ? CursorCast() : nil, isScreen ? SourceNotice() : nil,
    ]
    page = PageFeatures(all: features.compactMap(\.self) + options.pageFeatures)
    let page = page
    media = OutgoingMedia(
      options: options, contentHint: Self.contentHint(of: source, options),
      sendsAudio: options.offersAudio ?? (source.audio != nil), codecs: codecs, peers: peers, exact: exact, page: page,
      report: report)
    let (media, hasVideo) = (media, source.video != nil)
    viewers = ViewerRegistry(
      ViewerRegistry.Stream(
        maximumViewers: options.maximumViewers,
        makeConnection: { change in
          var configuration = Self.configuration(of: media, page, options)
          change(&configuration)
          return PeerConnection(on: peers, configuration: configuration)
        },
        content: { (hasVideo, media.audio != nil) },
        codecs: { media.encodedFormats.map(\.words).joined(separator: " or ") }, isLive: { media.isLive },
        iceServers: options.iceServers,
        page: page, admission: options.admission, snapshot: { await exact?.snapshot() }, refusals: peers.refusals,
        metrics: { await Self.metrics(of: media, peers) }), report: report)
  }

  deinit {
    guard !isStopped.load(ordering: .relaxed) else { return }
    // Not here: the last reference may be dropped within one of the source's frames, and stopping waits for that frame.
    let (viewers, publications, media, page, continuation) = (viewers, publications, media, page, continuation)
    Task {
      await publications.leaveAll()
      await viewers.closeAll()
      media.stop()
      page.stop()
      continuation.finish()
    }
  }

  /// A broadcast of pictures alone.
  public convenience init(
    _ capturer: any VideoCapturer, options: Options = Options(), peers: PeerLoop,
    codecs: CodecRegistry = .standard
  ) {
    self.init(MediaSource(video: capturer), options: options, peers: peers, codecs: codecs)
  }

  /// Starts the source and returns when it runs; viewers may come before or after.
  /// - Returns: the format that the source delivers.
  @discardableResult
  public func start() async throws(CaptureError) -> StartedSource {
    try await media.start(
      source, format: Self.format(of: source.video, size: options.captureSize, frameRate: options.frameRate))
  }

  /// Says goodbye to every viewer and stops the source. Calling it again does nothing.
  public func stop() async {
    isStopped.store(true, ordering: .relaxed)
    await publications.leaveAll()
    await viewers.closeAll()
    media.stop()
    page.stop()
    source.stop()  // one that is still starting is not known to it yet
    continuation.finish()
  }

  // MARK: - While it runs

  /// Replaces the source. Viewers stay connected, times continue, and a key frame follows. If the new source cannot be
  /// started, the present one continues.
  /// - Parameters:
  ///   - frameRate: the maximum number of pictures a second; nil keeps the present one.
  ///   - size: the size to ask of a source that can deliver any size; nil takes its first format.
  @discardableResult
  public func replaceSource(
    _ source: MediaSource, frameRate: Double? = nil, size: PixelSize? = nil
  ) async throws(CaptureError) -> StartedSource {
    let rate = frameRate ?? self.frameRate.withLock { $0 }
    let started = try await media.start(source, format: Self.format(of: source.video, size: size, frameRate: rate))
    guard source.video != nil else { return started }
    self.frameRate.withLock { $0 = rate }
    media.video.setMaxFrameRate(rate)
    media.video.setContentHint(Self.contentHint(of: source, options))
    return started
  }

  /// Pauses the broadcast: viewers keep the last picture and get silence.
  public func pause() { media.pause() }

  /// True from `pause` until `resume` or another source.
  public var isPaused: Bool { media.isPaused }

  /// True from the end of a source until another takes its place.
  package var isSourceEnded: Bool { media.isEnded }

  /// Continues after `pause`.
  public func resume() async throws(CaptureError) { try await media.resume() }

  /// True when viewers are offered sound.
  public var offersAudio: Bool { media.audio != nil }

  /// Gives `sink` the frames that viewers are sent, from the next key frame on, even without viewers. Several sinks may
  /// be added; the broadcast releases them when it stops.
  public func add(_ sink: any EncodedMediaSink) {
    page.handle(.recorded)
    media.add(sink)
  }

  /// The names of the codecs that the video is offered in.
  var videoCodecs: [String] {
    media.videoFormats.reduce(into: []) { names, format in
      if !names.contains(format.codec.rawValue) { names.append(format.codec.rawValue) }
    }
  }

  /// The source to begin with has pictures.
  var hasVideo: Bool { source.video != nil }

  /// Requests a key frame for all viewers.
  public func requestKeyFrame() { media.video.requestKeyFrame() }

  /// Requests a key frame for the recorders. Viewers with the same encoding get it, too.
  package func requestRecordedKeyFrame() { media.video.requestRecordedKeyFrame() }

  /// Changes what is preserved when bandwidth is short.
  public func setContentHint(_ hint: ContentHint) { media.video.setContentHint(hint) }

  /// Sets the maximum number of pictures a second. The source is restarted.
  public func setFrameRate(_ rate: Double) async throws(CaptureError) {
    frameRate.withLock { $0 = rate }
    try await media.setFrameRate(rate)
  }

  /// Sends silence in the place of sound.
  public func setMuted(_ isMuted: Bool) { media.audio?.setMuted(isMuted) }

  /// Asks for more or fewer bits per viewer, from now on.
  public func setBitrates(_ limits: BitrateLimits) async {
    media.video.setBitrates(limits.minimum...limits.maximum)
    await viewers.setBitrates(limits)
  }

  /// The code of a viewer's and our certificates; see `PeerStatistics.keyCode`. Nil when the viewer is not connected.
  public func keyCode(ofViewer id: String) async -> String? { await viewers.keyCode(of: id) }

  /// A snapshot; rates and means are over the time since the call before.
  public func statistics() async -> BroadcastStatistics { await measure(beginsInterval: true) }

  /// A snapshot whose rates and means are over the time since the last call of `statistics()`, which does not notice it.
  package func glance() async -> BroadcastStatistics { await measure(beginsInterval: false) }

  private func measure(beginsInterval: Bool) async -> BroadcastStatistics {
    let peers = await viewers.statistics()
    let encoding = media.video.statistics()
    let sessions = viewers.count
    let passed = media.video.passed
    let rungs = media.video.rungs()
    let counts = await media.video.track.rungCounts()
    var result = meter.withLock { meter in
      let before = beginsInterval ? nil : meter
      defer { if let before { meter = before } }
      return meter.measure(
        now: MonotonicClock.now(), encoding: encoding, peers: peers, sessions: sessions, codec: media.video.codec,
        passed: passed, rungs: rungs, counts: counts)
    }
    for feature in page.all { feature.measure(into: &result) }
    return result
  }

  /// How a viewer is connected.
  private static func configuration(
    of media: OutgoingMedia, _ page: PageFeatures, _ options: Options
  ) -> PeerConnection.Configuration {
    var configuration = PeerConnection.Configuration(video: media.video.track, audio: media.audio?.track)
    // Viewers have nothing to say, but for our page.
    configuration.dataChannels = page.options
    configuration.videoFormats = media.videoFormats
    configuration.bitrates = options.bitrates
    configuration.audioBitrates = options.audioBitrates
    configuration.record(options.rateControl, in: options.rateLog)
    configuration.opus.isStereo = options.audio.channels == 2
    configuration.opus.usesDiscontinuousTransmission = options.audio.usesDiscontinuousTransmission
    configuration.opus.usesForwardErrorCorrection = options.audio.usesForwardErrorCorrection
    return configuration
  }

  // MARK: - Formats

  private static func contentHint(of source: MediaSource, _ options: Options) -> ContentHint {
    options.contentHint ?? (source.video?.isScreencast == true ? .detail : .motion)
  }

  package static func format(
    of capturer: (any VideoCapturer)?, size: PixelSize?, frameRate: Double
  ) -> VideoFormat? {
    guard let capturer else { return nil }
    // A source that cannot be reached offers nothing; asked all the same, it says why.
    let nothing = VideoFormat(size: PixelSize(width: 0, height: 0), frameRates: 0...1_000, pixelFormat: .bgra)
    let formats = capturer.supportedFormats
    func distance(_ format: VideoFormat, from size: PixelSize) -> (Int, Double) {
      let lack = max(0, frameRate * 0.99 - format.frameRates.upperBound)
      return (abs(format.size.width - size.width) + abs(format.size.height - size.height), lack)
    }
    // A camera may be fast in one size and slow in another.
    let nearest = size.flatMap { size in formats.min { distance($0, from: size) < distance($1, from: size) } }
    var format = nearest ?? formats.first ?? nothing
    if let size { format.size = size }
    let rate = max(format.frameRates.lowerBound, min(format.frameRates.upperBound, frameRate))
    format.frameRates = min(rate, format.frameRates.lowerBound)...rate
    return format
  }
}

/// An event of a broadcast.
public enum BroadcastEvent: Sendable {
  /// A viewer is connected and is being sent the picture.
  case viewerJoined(id: String)
  /// A viewer's connection ended, for this reason.
  case viewerLeft(id: String, EndReason)
  /// A viewer's offer was answered, and no connection came about, for this reason.
  /// - Parameter from: the address from which it asked.
  case viewerFailed(id: String, from: String, EndReason)
  /// A viewer's offer was answered some seconds ago, and it is not connected: the most likely cause in a few words, and
  /// sentences with the remedy.
  case viewerDelayed(id: String, from: String, cause: String, sentence: String)
  /// The quality is reduced because bandwidth or processor time is short; nil: no longer.
  case qualityLimited(QualityLimitation?)
  /// The source changed its size; viewers follow by themselves.
  case formatChanged(PixelSize)
  /// Pictures are encoded with this from now on, as it is the best for so many viewers.
  case codecChanged(VideoPayloadFormat, viewers: Int)
  /// A viewer needs a key frame and waits for the source's next.
  case keyFrameAwaited(TimeDelta)
  /// A viewer needs a key frame and the source's next one is far (nil: unknown): it gets pictures encoded here until
  /// then.
  case transcoding(nextKeyFrame: TimeDelta?)
  /// The source delivers nothing for the time being, such as an X server that does not answer or a window that is hidden;
  /// the sentence says why. Viewers keep the last picture.
  case sourceStalled(String)
  /// The source delivers again.
  case sourceResumed
  /// The sound has ended and the picture continues; the sentence gives the reason.
  case audioLost(String)
  /// The source ended by itself.
  case ended(CaptureEnd)
  /// The service that we publish to is gone, or does not want us at the moment; the sentence says why. Another attempt comes
  /// after this time.
  case publishInterrupted(sentence: String, retryIn: TimeDelta)
  /// Published again after an interruption.
  case publishResumed
  /// The connection to the service we publish to ended, and none takes its place.
  case publishEnded(EndReason)
  /// The WHIP service refused to continue after an interruption.
  case publishFailed(PublishFailure)
  /// The encoder failed; the sentence gives the reason. The source continues.
  case encoderFailed(String)
}
