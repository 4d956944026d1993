internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// One file of a recording and its clock: zero is where it begins. Used by one thread.
final class RecordedFile {
  private struct Pictures {
    let place: MuxedFile.Track
    var header: RecordedPictures
    /// Frames of another rendition wait for their key frame.
    var rendition = Rendition.encoded
    var last: (time: Int64, interval: Int64)?
  }

  private struct Sound {
    let place: MuxedFile.Track
    var last: Int64 = -1
    /// The place of a sound position on the file's clock.
    var anchor: (position: Int64, time: Int64)?
  }

  private let muxed: MuxedFile
  private let container: RecordingContainer
  /// The moment at which the file begins.
  let origin: Timestamp
  private var pictures: [RecordingTrack.Number: Pictures] = [:]
  private var sounds: [RecordingTrack.Number: Sound] = [:]

  private(set) var pictureCount = 0
  private var writtenTime: Int64 = 0
  private(set) var safeTime: Int64 = 0
  private(set) var hasUnflushed = false

  /// The longest time by which sound may stray from its capture times before it is put back, in nanoseconds.
  private static let longestDrift: Int64 = 80_000_000

  /// The tracks that a file is to have.
  struct Tracks {
    var pictures: [(RecordingTrack.Number, RecordedPictures, name: String?)]
    var sounds: [(RecordingTrack.Number, name: String?)]
  }

  /// Writes the header. The first frame to `write` of each of the pictures is the key frame that its header was read from.
  init(
    _ sink: RecordingSink, as container: RecordingContainer, tracks: Tracks, origin: Timestamp
  ) throws(FFmpegError) {
    muxed = try MuxedFile(
      sink, as: container, pictures: tracks.pictures.map { ($0.1, $0.name) }, sounds: tracks.sounds.map(\.name))
    (self.container, self.origin) = (container, origin)
    for (place, (number, header, _)) in tracks.pictures.enumerated() {
      pictures[number] = Pictures(place: place, header: header)
    }
    for (place, (number, _)) in tracks.sounds.enumerated() {
      sounds[number] = Sound(place: tracks.pictures.count + place)
    }
  }

  var sink: RecordingSink { muxed.sink }

  func has(_ track: RecordingTrack.Number) -> Bool { pictures[track] != nil || sounds[track] != nil }

  /// Whether a key frame of these pictures can stand on `track`; if so, they are its pictures from now on.
  func goesOn(_ track: RecordingTrack.Number, with new: RecordedPictures) -> Bool {
    guard let old = pictures[track]?.header else { return false }
    let isSameStream = (new.codec, new.profile) == (old.codec, old.profile) && new.headers == old.headers
    let hasFittingSize = new.size == old.size || container.allowsChangeOfSize(new.codec)
    // Only mp4 says how the pictures are turned.
    let hasFittingTurn = new.rotation == old.rotation || container != .mp4
    guard isSameStream, hasFittingSize, hasFittingTurn else { return false }
    pictures[track]?.header = new
    return true
  }

  func write(_ frame: EncodedFrame, to number: RecordingTrack.Number) throws(FFmpegError) {
    guard var track = pictures[number] else { return }
    if frame.isKeyFrame { track.rendition = frame.rendition }
    // A track begins with its key frame.
    guard frame.isKeyFrame || track.last != nil, frame.rendition == track.rendition, frame.codec == track.header.codec
    else { return }
    var time = max(0, (frame.captureTime - origin).nanoseconds)
    var interval: Int64 = 33_000_000
    if let last = track.last {
      time = max(time, last.time + muxed.tick(of: track.place))
      interval = min(time - last.time, 1_000_000_000)
    }
    try muxed.write(frame.data, to: track.place, time: time, duration: interval, isKeyFrame: frame.isKeyFrame)
    track.last = (time, interval)
    pictures[number] = track
    pictureCount += 1
    note(time)
  }

  func write(_ frame: EncodedAudioFrame, to number: RecordingTrack.Number) throws(FFmpegError) {
    guard var track = sounds[number] else { return }
    let captured = (frame.captureTime - origin).nanoseconds
    guard captured >= 0 else { return }
    var time = captured
    if let anchor = track.anchor {
      // Exact to the sample; nanoseconds are samples × 62 500 / 3.
      time = anchor.time &+ (frame.position &- anchor.position) &* 62_500 / 3
    }
    if track.anchor == nil || abs(time &- captured) > Self.longestDrift {
      track.anchor = (frame.position, captured)
      time = captured
    }
    time = max(time, track.last + muxed.tick(of: track.place))
    let duration = Int64(frame.sampleCount) * 62_500 / 3
    try muxed.write(frame.data, to: track.place, time: time, duration: duration, isKeyFrame: true)
    track.last = time
    sounds[number] = track
    note(time)
  }

  private func note(_ time: Int64) {
    writtenTime = max(writtenTime, time)
    hasUnflushed = true
  }

  /// The length of the frames written since the last flush, in nanoseconds.
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
