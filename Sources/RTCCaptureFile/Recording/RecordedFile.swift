internal import RTCMedia
internal import RTCPrimitives

/// One file of a recording and its clock: zero is its first key frame. Used by one thread.
final class RecordedFile {
  private let muxed: MuxedFile
  private let container: RecordingContainer
  private var pictures: RecordedPictures
  private let hasAudio: Bool
  private let origin: Timestamp
  /// Frames of another rendition wait for their key frame.
  private var rendition: Rendition

  private var lastPicture: (time: Int64, interval: Int64)?
  private var lastSound: Int64 = -1
  /// Where a sound position stands on the file's clock.
  private var soundAnchor: (position: Int64, time: Int64)?
  private(set) var pictureCount = 0
  private var writtenTime: Int64 = 0
  private(set) var safeTime: Int64 = 0
  private(set) var hasUnflushed = false

  /// How far sound may stray from its capture times before it is put back.
  private static let longestDrift: Int64 = 80_000_000

  /// Writes the header. The first frame to `write` is the key frame that `pictures` was read from.
  init(
    _ sink: RecordingSink, as container: RecordingContainer, pictures: RecordedPictures, first: EncodedFrame,
    hasAudio: Bool
  ) throws(FFmpegError) {
    muxed = try MuxedFile(sink, as: container, pictures: pictures, hasAudio: hasAudio)
    (self.container, self.pictures, self.hasAudio) = (container, pictures, hasAudio)
    (origin, rendition) = (first.captureTime, first.rendition)
  }

  var sink: RecordingSink { muxed.sink }

  /// Whether a key frame of these pictures can stand in this file; if so, they are its pictures from now on.
  func goesOn(with new: RecordedPictures) -> Bool {
    let isSameStream = (new.codec, new.profile) == (pictures.codec, pictures.profile) && new.headers == pictures.headers
    let hasFittingSize = new.size == pictures.size || container.allowsChangeOfSize(new.codec)
    // Only mp4 says how the pictures are turned.
    let hasFittingTurn = new.rotation == pictures.rotation || container != .mp4
    guard isSameStream, hasFittingSize, hasFittingTurn else { return false }
    pictures = new
    return true
  }

  func write(_ frame: EncodedFrame) throws(FFmpegError) {
    if frame.isKeyFrame { rendition = frame.rendition }
    guard frame.rendition == rendition, frame.codec == pictures.codec else { return }
    var time = (frame.captureTime - origin).nanoseconds
    var interval: Int64 = 33_000_000
    if let lastPicture {
      time = max(time, lastPicture.time + muxed.tick(of: .pictures))
      interval = min(time - lastPicture.time, 1_000_000_000)
    }
    try muxed.write(frame.data, to: .pictures, time: time, duration: interval, isKeyFrame: frame.isKeyFrame)
    lastPicture = (time, interval)
    pictureCount += 1
    note(time)
  }

  func write(_ frame: EncodedAudioFrame) throws(FFmpegError) {
    guard hasAudio else { return }
    let captured = (frame.captureTime - origin).nanoseconds
    guard captured >= 0 else { return }
    var time = captured
    if let soundAnchor {
      // Exact to the sample; nanoseconds are samples × 62 500 / 3.
      time = soundAnchor.time &+ (frame.position &- soundAnchor.position) &* 62_500 / 3
    }
    if soundAnchor == nil || abs(time &- captured) > Self.longestDrift {
      soundAnchor = (frame.position, captured)
      time = captured
    }
    time = max(time, lastSound + muxed.tick(of: .sound))
    let duration = Int64(frame.sampleCount) * 62_500 / 3
    try muxed.write(frame.data, to: .sound, time: time, duration: duration, isKeyFrame: true)
    lastSound = time
    note(time)
  }

  private func note(_ time: Int64) {
    writtenTime = max(writtenTime, time)
    hasUnflushed = true
  }

  /// How long what was written since the last flush lasts, in nanoseconds.
  var unflushedTime: Int64 { writtenTime - safeTime }

  func flush() throws(FFmpegError) {
    try muxed.flush()
    safeTime = writtenTime
    hasUnflushed = false
  }

  func finish() throws(FFmpegError) {
    try muxed.finish()
    safeTime = writtenTime
    hasUnflushed = false
  }
}
