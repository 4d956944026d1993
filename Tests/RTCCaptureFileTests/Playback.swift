import RTCCaptureFile
import RTCMedia
import RTCPrimitives
import Synchronization

/// The pictures and sounds that a player delivered, on a clock that runs as fast as the consumer takes them.
final class Playback: VideoConsumer, AudioConsumer, EncodedVideoConsumer, Sendable {
  struct Picture {
    var time: TimeDelta
    var size: PixelSize
    var format: PixelFormat
    var rotation: VideoRotation
    var colorSpace: ColorSpace
    /// The Adler-32 sum of the packed I420 bytes, as ffmpeg computes it.
    var sum: UInt32
    /// The samples in the middle: Y, U, V, or the bytes of a packed pixel.
    var middle: [Int]
    var isRepeat: Bool
  }

  struct Sound {
    var time: TimeDelta
    var format: AudioFormat
    var samples: [Float]
    var end: TimeDelta {
      time + .nanoseconds(Int64(samples.count / format.channels) * 1_000_000_000 / Int64(format.sampleRate))
    }
  }

  struct Record {
    var pictures: [Picture] = []
    var sounds: [Sound] = []
    var encoded: [EncodedFrame] = []
    var videoStart: Result<VideoFormat, CaptureError>?
    var audioStart: Result<AudioFormat, CaptureError>?
    var videoEnd: CaptureEnd?
    var audioEnd: CaptureEnd?
  }

  static let start = Timestamp(nanoseconds: 1_000_000_000_000)

  let player: FilePlayer
  private let clip: Clip
  private let record = Mutex(Record())
  private let ended: AsyncStream<Void>
  private let feed: AsyncStream<Void>.Continuation
  private let started: AsyncStream<Void>
  private let startFeed: AsyncStream<Void>.Continuation
  private let onPicture: @Sendable (Int, FilePlayer) -> Void
  private let pictureLimit: Int
  private let pictures: AsyncStream<Picture>
  private let pictureFeed: AsyncStream<Picture>.Continuation
  private let keepsSums: Bool

  /// - Parameters:
  ///   - hosts: the processes that decode; nil decodes in the process of the tests.
  ///   - pictureLimit: the number of pictures after which the player stops.
  ///   - onPicture: called with the number of each picture, on the player's thread.
  init(
    _ clip: Clip, _ options: FilePlayer.Options = .init(), pictureLimit: Int = .max, keepsSums: Bool = true,
    passthrough: PassthroughFactory = .none, hosts: FileHosts? = Probe.hosts,
    clock: PlaybackClock = .asFastAsConsumed(from: start),
    onPicture: @escaping @Sendable (Int, FilePlayer) -> Void = { _, _ in }
  ) throws {
    player = try FilePlayer(
      path: clip.path, options: options, clock: clock, passthrough: passthrough, hosts: hosts)
    self.clip = clip
    (pictures, pictureFeed) = AsyncStream.makeStream()
    (ended, feed) = AsyncStream.makeStream()
    (started, startFeed) = AsyncStream.makeStream()
    self.pictureLimit = pictureLimit
    self.keepsSums = keepsSums
    self.onPicture = onPicture
  }

  /// Plays until the file ended or the limit is reached.
  func play(video: Bool = true, audio: Bool = true) async -> Record {
    let video = video ? player.source.video : nil
    let audio = audio ? player.source.audio : nil
    var expected = 0
    // The clock starts when both are there.
    player.pause()
    if let video {
      expected += 1
      video.startCapture(format: video.supportedFormats[0], consumer: self)
    }
    if let audio {
      expected += 1
      audio.startCapture(consumer: self)
    }
    player.resume()
    var iterator = ended.makeAsyncIterator()
    for _ in 0..<expected { await iterator.next() }
    video?.stopCapture()
    audio?.stopCapture()
    // The player would retain the object that retains it.
    (video as? any EncodedVideoCapturer)?.setPassthrough(to: nil)
    return record.withLock { $0 }
  }

  /// Returns when the pictures and the sound have reported that they started.
  func untilStarted() async {
    var iterator = started.makeAsyncIterator()
    for _ in 0..<2 { await iterator.next() }
  }

  /// Plays the started tracks until both have ended.
  func untilEnded() async -> Record {
    var iterator = ended.makeAsyncIterator()
    for _ in 0..<2 { await iterator.next() }
    return record.withLock { $0 }
  }

  /// Starts all tracks with the clock standing, for a test that starts the clock itself.
  func startPaused() {
    player.pause()
    if let video = player.source.video { video.startCapture(format: video.supportedFormats[0], consumer: self) }
    player.source.audio?.startCapture(consumer: self)
  }

  func stop() -> Record {
    player.source.video?.stopCapture()
    player.source.audio?.stopCapture()
    return record.withLock { $0 }
  }

  /// The next picture that was not awaited yet.
  func nextPicture() async -> Picture? {
    var iterator = pictures.makeAsyncIterator()
    return await iterator.next()
  }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) {
    record.withLock { $0.videoStart = result }
    startFeed.yield()
    if case .failure = result {
      feed.yield()
      pictureFeed.finish()
    }
  }

  func consume(_ frame: VideoFrame) {
    let picture = Self.picture(frame, keepsSums)
    let count = record.withLock { record in
      guard record.pictures.count < pictureLimit else { return Int.max }
      record.pictures.append(picture)
      return record.pictures.count
    }
    guard count <= pictureLimit, count < Int.max else { return }
    onPicture(count - 1, player)
    pictureFeed.yield(picture)
    if count == pictureLimit {
      player.pause()
      feed.yield()
      feed.yield()
    }
  }

  func captureDidEnd(_ reason: CaptureEnd) {
    record.withLock { $0.videoEnd = reason }
    feed.yield()
    pictureFeed.finish()
  }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    record.withLock { $0.audioStart = result }
    startFeed.yield()
    if case .failure = result { feed.yield() }
  }

  func consume(_ frame: AudioFrame) {
    let sound = Sound(time: frame.captureTime - Self.start, format: frame.format, samples: frame.samples)
    record.withLock { if $0.pictures.count < pictureLimit { $0.sounds.append(sound) } }
  }

  func audioCaptureDidEnd(_ reason: CaptureEnd) {
    record.withLock { $0.audioEnd = reason }
    feed.yield()
  }

  func consume(_ frame: EncodedFrame) { record.withLock { $0.encoded.append(frame) } }

  private static func picture(_ frame: VideoFrame, _ keepsSums: Bool) -> Picture {
    var sum = Adler32()
    for plane in 0..<(keepsSums ? frame.buffer.format.planeCount : 0) {
      let bytes = frame.buffer.bytes(ofPlane: plane)
      let extent = frame.buffer.format.planeExtent(plane, of: frame.size)
      for row in 0..<extent.rows {
        let start = row * frame.buffer.stride(ofPlane: plane)
        for column in 0..<extent.rowBytes { sum.add(bytes[start + column]) }
      }
    }
    return Picture(
      time: frame.captureTime - start, size: frame.size, format: frame.buffer.format, rotation: frame.rotation,
      colorSpace: frame.colorSpace, sum: sum.value, middle: middle(frame.buffer), isRepeat: frame.damage == [])
  }

  private static func middle(_ buffer: PixelBuffer) -> [Int] {
    (0..<buffer.format.planeCount).flatMap { plane in
      let bytes = buffer.bytes(ofPlane: plane)
      let extent = buffer.format.planeExtent(plane, of: buffer.size)
      let width = buffer.format.planeCount == 1 ? 4 : buffer.format == .nv12 && plane == 1 ? 2 : 1
      let start = extent.rows / 2 * buffer.stride(ofPlane: plane) + extent.rowBytes / width / 2 * width
      return (0..<width).map { Int(bytes[start + $0]) }
    }
  }
}

extension Playback.Record {
  /// All sound of one channel, as if without gaps.
  func samples(channel: Int = 0) -> [Float] {
    sounds.flatMap { sound in
      stride(from: channel, to: sound.samples.count, by: sound.format.channels).map { sound.samples[$0] }
    }
  }
}
