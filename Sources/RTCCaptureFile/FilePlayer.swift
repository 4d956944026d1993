public import RTCMedia
public import RTCPrimitives

/// Plays a local file: its pictures and its sound, when they are due by the file's own timestamps.
///
/// One thread demuxes and decodes ahead, one delivers the pictures, one the sound. All follow one media clock, so pictures
/// and sound cannot drift apart. Decoded pictures are handed over by reference; formats that browsers' codecs do not take
/// (10 bits, 4:2:2, palettes, full range …) are converted once and counted in `convertedPictures`. All methods may be called
/// from any thread and return at once.
///
/// Playing begins when `source.video` or `source.audio` is started, and the file is read again from `Options.start` when
/// both were stopped or ended and one is started again. It ends when they are stopped, or when the player, `source.video`
/// and `source.audio` have all been let go; a consumer that is being called then is called no more.
public final class FilePlayer: Sendable {
  /// The options for playing a file.
  public struct Options: Sendable {
    /// Begin again when the end is reached; the next pass begins where the longer of the two streams ends.
    public var isLooped = false
    /// The position at which playing begins, also in each further pass of a loop.
    public var start = TimeDelta.zero
    /// 0.25…4; values outside are taken to the nearer bound. Sound keeps its pitch.
    public var speed = 1.0
    /// Pictures a second at most; nil for as many as the file has. The format given to `startCapture` sets a limit too.
    public var maximumFrameRate: Double?
    /// Whether the file's sound is played.
    public var playsSound = true
    /// Also hand pictures and sound on as they are in the file, where browsers can take them.
    public var passesThrough = true

    /// The defaults: once from the beginning, at the file's own speed, with sound.
    public init() {}
  }

  /// The state of a player.
  public enum Playback: Hashable, Sendable {
    /// Neither pictures nor sound are asked for, or the file has ended.
    case idle
    /// Opening, or on the way to another place.
    case preparing
    case playing
    case paused
  }

  /// A change in playing, as `events` reports it.
  public enum Event: Hashable, Sendable {
    case started
    case paused
    case resumed
    /// On the way to this position.
    case seeking(TimeDelta)
    /// The file began again, for the time that the number says.
    case looped(Int)
    /// Nothing of the pictures, or of the sound, can be played, and the other is played alone; the sentence says which.
    case leftOut(String)
    /// Everything that was asked for came to its end.
    case ended
  }

  /// The speeds that `setSpeed` and `Options.speed` take; 1 is the file's own.
  public static let speeds = 0.25...4.0

  /// The source to cast: `video` is nil for files without pictures, `audio` for files without sound.
  public let source: MediaSource
  private let hold: PlaybackHold
  var core: PlaybackCore { hold.core }

  /// Opens a file and looks at what is in it; takes as long as reading its first part does.
  ///
  /// - Throws: `noSuchSource` when it is missing, empty, breaks off or is not known, `notPermitted`, `unsupportedFormat`
  ///   when it is encrypted or coded as nothing on this machine can decode. Each with a sentence.
  public static func open(path: String, options: Options = Options()) throws(CaptureError) -> FilePlayer {
    try open(path: path, options: options, hosts: nil)
  }

  /// - Parameter hosts: starts the process in which the file is demuxed and decoded; nil: this one.
  package static func open(
    path: String, options: Options = Options(), hosts: FileHosts?
  ) throws(CaptureError) -> FilePlayer {
    try FilePlayer(
      path: path, options: options, clock: .monotonic, passthrough: options.passesThrough ? .standard : .none,
      hosts: hosts)
  }

  /// - Parameters:
  ///   - clock: tests play as fast as they take.
  ///   - passthrough: what can be passed on without decoding.
  ///   - hosts: starts the process in which the file is demuxed and decoded; nil: this one.
  package init(
    path: String, options: Options, clock: PlaybackClock, passthrough: PassthroughFactory, hosts: FileHosts? = nil
  ) throws(CaptureError) {
    var options = options
    options.speed = Self.bounded(options.speed)
    options.start = max(.zero, options.start)
    let core = try PlaybackCore(path: path, options: options, clock: clock, passthrough: passthrough, hosts: hosts)
    let hold = PlaybackHold(core)
    self.hold = hold
    source = MediaSource(
      video: core.info.videoFormat.map { FileVideoCapturer(hold: hold, format: $0) },
      audio: core.info.audioFormat.map { _ in FileAudioSource(hold: hold) }, playback: FilePlayback(core: core),
      endsWithVideo: false)
  }

  // MARK: - Controls

  /// Stops the clock; what comes after `resume` has later capture times than all before.
  public func pause() { core.pause() }

  /// Goes on from where `pause` stopped; without effect on a player that is not paused.
  public func resume() { core.resume() }

  /// Goes to a position in the file, to the picture that is shown there (to the key frame before it while pictures are
  /// passed on), and returns when it is ready. A player that is paused shows it and stays paused.
  public func seek(to position: TimeDelta) async {
    await seek { _ in position }
  }

  /// Goes forward, or back when negative.
  public func seek(by distance: TimeDelta) async {
    await seek { $0 + distance }
  }

  /// While muted the sound goes on as silence.
  public func setMuted(_ isMuted: Bool) { core.monitor.change { state, _ in state.isMuted = isMuted } }

  /// 0.25…4; values outside are taken to the nearer bound.
  public func setSpeed(_ speed: Double) {
    let bounded = Self.bounded(speed)
    core.monitor.change { $0.setSpeed(bounded, $1) }
  }

  // MARK: - What there is to know

  /// The current position in the file.
  public var position: TimeDelta {
    let position = core.monitor.read { $0.position(at: $1) }
    return max(.zero, min(position, duration ?? position))
  }

  /// The duration of the file; nil when the container does not say.
  public var duration: TimeDelta? { core.info.duration }
  /// The current state of the player.
  public var playback: Playback { core.monitor.read { state, _ in state.playback } }
  /// Whether the sound is replaced by silence.
  public var isMuted: Bool { core.monitor.read { state, _ in state.isMuted } }
  /// The speed of playing, 0.25…4; 1 is the file's own speed.
  public var speed: Double { core.monitor.read { state, _ in state.clock.speed } }

  /// The events of the player, for one reader; if nobody reads, the oldest are discarded.
  public var events: AsyncStream<Event> { core.events }

  /// FFmpeg's names of container and codecs, nil where there is no such stream.
  public var containerName: String { core.info.containerName }
  /// FFmpeg's name of the video codec; nil for a file without pictures.
  public var videoCodec: String? { core.info.videoCodec }
  /// FFmpeg's name of the audio codec; nil for a file without sound.
  public var audioCodec: String? { core.info.audioCodec }

  /// The reason why the pictures cannot be passed on as they are, in a sentence; nil when they can, or when there are
  /// none.
  public var passthroughRefusal: String? { core.info.passthroughRefusal }

  /// A sentence for each part of the file that is not played as it is meant: parts that nothing on this machine decodes, and colours
  /// that viewers' screens do not have.
  public var notices: [String] { core.info.notices }

  /// Pictures that had to be copied because of their format.
  public var convertedPictures: Int { core.counters.converted }
  /// Pictures that came too late to be shown, decoded or left out before that. They grow where this machine cannot decode
  /// the file as fast as it plays, or where the pictures' consumer takes too long.
  public var droppedPictures: Int { core.monitor.read { state, _ in state.droppedPictures } }
  /// The delay with which the newest picture was delivered: about a second at most, unless the file has no key frame
  /// for ten.
  public var lateness: TimeDelta { core.monitor.read { state, _ in state.lateness } }
  /// The number of pictures that consumers still hold, for tests.
  package var outstandingPictures: Int { core.counters.outstanding }

  private func seek(_ target: (TimeDelta) -> TimeDelta) async {
    let length = duration
    await withCheckedContinuation { continuation in
      let (place, isIdle) = core.monitor.change { state, now in
        let wanted = max(.zero, target(state.destination(at: now)))
        let place = length.map { min(wanted, $0) } ?? wanted
        guard state.isWanted else { return (place, true) }
        state.seek = .wanted(place)
        state.seekWaiters.append(continuation)
        return (place, false)
      }
      if isIdle { continuation.resume() } else { core.tell(.seeking(place)) }
    }
  }

  private static func bounded(_ speed: Double) -> Double {
    speed.isFinite ? min(max(speed, speeds.lowerBound), speeds.upperBound) : 1
  }
}
