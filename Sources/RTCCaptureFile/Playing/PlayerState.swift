internal import RTCMedia
internal import RTCPrimitives

/// A decoded picture that waits until it is due.
struct PictureItem {
  var buffer: PixelBuffer
  var colorSpace: ColorSpace
  var rotation: VideoRotation
  var time: TimeDelta
  var duration: TimeDelta
}

/// The state that the reader thread, the two delivery threads and the controls of one player share. It is a pure value
/// except for the objects that it passes from thread to thread; `PlaybackMonitor` guards it.
struct PlayerState {
  enum Motion {
    /// The first picture and sound of a place in the file are awaited.
    case preparing(thenPaused: Bool)
    case playing
    case paused
  }

  /// The end of the file, once it was read.
  enum Ending {
    case at(TimeDelta)
    /// The file is one picture, which is shown until the player stops.
    case held
    case lost(String)
  }

  /// A seek to another place in the file. Nothing is delivered during it.
  enum Seek {
    case none
    /// The reader has not begun the seek.
    case wanted(TimeDelta)
    case underway
  }

  /// One pass through the file, or a part of one between seeks. It maps times of the file to the media timeline.
  struct Pass {
    var start: TimeDelta
    /// Position in the file at `start`.
    var position: TimeDelta
    /// The number of times that the file ended and began again before this pass.
    var number: Int
  }

  /// One of the two streams while a consumer wants it.
  struct Track {
    /// The number of the run that delivers the stream; nil while no consumer wants it.
    var run: Int?
    var log: PacketLog
    /// The start of delivery: earlier pictures and sound are decoded and not delivered.
    var floor = TimeDelta.zero
    /// Whether the reader is decoding the packet that it took last.
    var isDecoding = false
    /// Whether a whole pass gave nothing that could be decoded.
    var isDead = false
    /// Packets given to the decoder and frames got from it since the pass began.
    var sent = 0
    var made = 0
    /// The number of frames ever made to be delivered.
    var total = 0
    /// The number of packets that were ever passed on.
    var passed = 0
    /// Whether the consumer was told that the stream gives nothing.
    var isTold = false
  }

  enum Kind {
    case video
    case audio
  }

  let options: FilePlayer.Options
  /// Whether the file has both pictures and sound.
  let isTwofold: Bool
  /// The open file, from the opening until the first reader takes it.
  var openedFile: (any FileMedia)?
  var clock = MediaClock()
  var motion = Motion.preparing(thenPaused: false)
  /// Whether the clock may not start yet: both halves of the file are started first, or a receiver is awaited.
  var isHeld = false
  var ending: Ending?
  var passes = [Pass(start: .zero, position: .zero, number: 0)]

  var video: Track
  var audio: Track
  /// The number of frames that both tracks had given when the last pass ended; nil before the first end.
  var totalAtPassEnd: Int?
  var pictures: [PictureItem] = []
  var sounds: [SoundPiece] = []
  var lastPicture: PictureItem?
  /// Whether a picture is to be shown although the clock stands: the first one after a seek.
  var owesPicture = false
  var droppedPictures = 0
  /// The delay with which the newest picture was delivered.
  var lateness = TimeDelta.zero

  var isDecodingWanted = true
  var isMuted = false
  var maximumFrameRate: Double?
  let videoPassthrough: (any VideoPassthrough)?
  let audioPassthrough: (any AudioPassthrough)?
  var videoTap: (any EncodedVideoConsumer)?
  var audioTap: (any EncodedAudioConsumer)?
  /// The time of the next key frame in the container's index, on the media timeline.
  var indexedKeyFrame: TimeDelta?

  var readerRun: Int?
  private var lastRun = 0
  var seek = Seek.none
  var seekWaiters: [CheckedContinuation<Void, Never>] = []
  /// The media time of the newest packet read.
  var frontier = TimeDelta.zero

  init(
    options: FilePlayer.Options, isTwofold: Bool, videoPassthrough: (any VideoPassthrough)?,
    audioPassthrough: (any AudioPassthrough)?
  ) {
    self.options = options
    self.isTwofold = isTwofold
    self.videoPassthrough = videoPassthrough
    self.audioPassthrough = audioPassthrough
    video = Track(log: PacketLog(isTappable: videoPassthrough != nil))
    audio = Track(log: PacketLog(isTappable: audioPassthrough != nil))
    clock.setSpeed(options.speed, at: .zero)
  }

  subscript(kind: Kind) -> Track {
    get { kind == .video ? video : audio }
    set {
      switch kind {
      case .video: video = newValue
      case .audio: audio = newValue
      }
    }
  }

  // MARK: - What is asked for

  mutating func makeRun() -> Int {
    lastRun += 1
    return lastRun
  }

  /// Ends the run of a track that no consumer wants any more, and releases the items that wait for it.
  mutating func endRun(_ kind: Kind) {
    self[kind].run = nil
    switch kind {
    case .video:
      pictures.removeAll()
      lastPicture = nil
    case .audio: sounds.removeAll()
    }
  }

  var isSeeking: Bool { if case .none = seek { false } else { true } }
  /// The position where the player is, or to which it seeks.
  func destination(at now: Timestamp) -> TimeDelta {
    if case .wanted(let place) = seek { place } else { position(at: now) }
  }
  var isWanted: Bool { video.run != nil || audio.run != nil }
  var decodesPictures: Bool { video.run != nil && isDecodingWanted && !video.isDead }
  var decodesSound: Bool { audio.run != nil && !audio.isDead && !audio.log.isTapped }

  /// Packets of sound can only be passed on at their own speed.
  mutating func updateTaps(_ now: Timestamp) {
    let media = clock.media(at: now)
    video.log.setTapped(videoTap != nil && videoPassthrough != nil, at: media)
    let wasTapped = audio.log.isTapped
    audio.log.setTapped(audioTap != nil && audioPassthrough != nil && clock.speed == 1, at: media)
    if audio.log.isTapped && !wasTapped { sounds.removeAll() }
  }

  /// Seeks to the start if the file is over, or if no consumer wanted it until now.
  mutating func beginAgainIfOver(_ now: Timestamp) {
    let isOver =
      switch ending {
      case .at(let end): clock.media(at: now) >= end
      case .lost: true
      case .held, nil: false
      }
    if isOver || !isWanted { seek = .wanted(options.start) }
  }

  // MARK: - Places

  func position(at now: Timestamp) -> TimeDelta {
    let media = clock.media(at: now)
    let pass = passes.last { $0.start <= media } ?? passes[0]
    return pass.position + (media - pass.start)
  }

  /// Everything read is forgotten; the file goes on at `position`, and the clock stands until it is there.
  /// - Parameter resumesTaps: what is passed on goes on after the last packet, as if nothing had been.
  mutating func beginPlace(at position: TimeDelta, resumesTaps: Bool = false, _ now: Timestamp) {
    if case .underway = seek { seek = .none }
    clock.stop(at: now)
    let media = clock.media(at: now)
    motion =
      switch motion {
      case .paused, .preparing(thenPaused: true): .preparing(thenPaused: true)
      default: .preparing(thenPaused: false)
      }
    passes = [Pass(start: media, position: position, number: passes.last?.number ?? 0)]
    for kind in [Kind.video, .audio] {
      self[kind].log.removeAll(at: media, resumesTap: resumesTaps)
      self[kind].floor = media
      self[kind].sent = 0
      self[kind].made = 0
    }
    pictures.removeAll()
    sounds.removeAll()
    lastPicture = nil
    ending = nil
    totalAtPassEnd = nil
    indexedKeyFrame = nil
    frontier = media
  }

  /// The clock starts when what is asked for is there.
  mutating func settle(_ now: Timestamp) {
    guard case .preparing(let thenPaused) = motion, !isSeeking else { return }
    let isFull = video.log.byteCount + audio.log.byteCount >= Self.byteLimit
    let hasPicture = !decodesPictures || !pictures.isEmpty || isFinished(.video)
    let hasSound = !decodesSound || !sounds.isEmpty || isFinished(.audio)
    guard isFull || (hasPicture && hasSound) else { return }
    guard !isHeld else { return releaseSeekWaiters() }
    motion = thenPaused ? .paused : .playing
    owesPicture = thenPaused
    if !thenPaused { clock.run(at: now) }
    releaseSeekWaiters()
  }

  mutating func releaseSeekWaiters() {
    for waiter in seekWaiters { waiter.resume() }
    seekWaiters.removeAll()
  }

  /// Everything of the track was decoded, or read where nothing is decoded.
  func isFinished(_ kind: Kind) -> Bool {
    let track = self[kind]
    // Where nothing is decoded, nobody takes the last packets out; the end is then when its time has come.
    let isDecoded = kind == .video ? decodesPictures : decodesSound
    return track.isDead || (ending != nil && (track.log.isExhausted || !isDecoded) && !track.isDecoding)
  }

  /// Nothing can come of the track, and nothing ever did: the file is played without it. True once.
  mutating func findsNothing(_ kind: Kind) -> Bool {
    let track = self[kind]
    let isDecoded = kind == .video ? decodesPictures : decodesSound
    guard isFinished(kind), isDecoded || track.isDead, track.total + track.passed == 0, !track.isTold else {
      return false
    }
    self[kind].isTold = true
    return true
  }

  /// The most that is kept of packets, in bytes.
  static let byteLimit = 64 << 20
}
