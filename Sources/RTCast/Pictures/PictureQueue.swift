import RTCEngine
import RTCPrimitives

/// The coded frames of one stream that still pictures of it are decoded from. Frames are kept only while still pictures are
/// asked for, and decoded only when one is. A machine: time is an argument.
///
/// While each frame follows the one before, pictures need no key frame. A stream that sends more than is kept is shown by a
/// key frame now and then.
package struct PictureQueue: Sendable {
  /// Still pictures are expected to be asked for again within this time.
  package static let attention = TimeDelta.seconds(20)
  /// The shortest time between two key frames that are requested for still pictures: each costs the publisher and all
  /// viewers bandwidth.
  package static let keyFrameInterval = TimeDelta.seconds(10)
  /// A requested key frame is awaited for this long.
  package static let patience = TimeDelta.milliseconds(2_500)
  /// The most frames and bytes that are kept. More would cost more time than a key frame.
  package static let mostFrames = 60
  package static let mostBytes = 1 << 20

  /// The number of frames received; the number of the newest picture.
  package private(set) var number: UInt64 = 0
  private var frames: [ReceivedFrame] = []
  private var bytes = 0
  /// Whether `frames` continue what was taken from here, or begin with a key frame.
  private var isUnbroken = false
  /// The number of the newest picture that was decoded.
  private var decoded: UInt64?
  private var wanted: Timestamp?
  private var asked: Timestamp?
  private var newest: Timestamp?

  package init() {}

  /// Whether still pictures are asked for at present.
  package func isWatched(_ now: Timestamp) -> Bool { wanted.map { now - $0 < Self.attention } ?? false }

  /// Whether there are frames to decode.
  package var isReady: Bool { !frames.isEmpty }

  /// Whether the newest picture was decoded.
  package var isCurrent: Bool { decoded == number }

  /// Whether a requested key frame may still come.
  package func isAwaiting(_ now: Timestamp) -> Bool {
    !isUnbroken && !isCurrent && (asked.map { now - $0 < Self.patience } ?? false)
  }

  /// A frame has arrived.
  package mutating func take(_ frame: ReceivedFrame, now: Timestamp) {
    number &+= 1
    newest = now
    guard isWatched(now) else { return forget() }
    if frame.isKeyFrame {
      forget()
      isUnbroken = true
    }
    guard isUnbroken else { return }
    frames.append(frame)
    bytes += frame.data.count
    if frames.count > Self.mostFrames || bytes > Self.mostBytes { forget() }
  }

  /// A still picture is asked for.
  /// - Returns: whether a key frame is to be requested.
  package mutating func want(now: Timestamp) -> Bool {
    wanted = now
    guard number > 0, !isUnbroken, !isCurrent else { return false }
    if let asked, now - asked < Self.keyFrameInterval { return false }
    asked = now
    return true
  }

  /// The frames to decode now, in order, and the number of the picture that the last of them makes.
  package mutating func next() -> (frames: [ReceivedFrame], number: UInt64) {
    defer { (frames, bytes) = ([], 0) }
    return (frames, number)
  }

  /// The frames up to `number` were decoded.
  package mutating func finish(_ number: UInt64) { decoded = number }

  /// The decoder has refused, or is gone: the next frame must be a key frame.
  package mutating func forget() {
    (frames, bytes) = ([], 0)
    isUnbroken = false
  }

  /// The newest picture is needed again, in another size.
  package mutating func repeatPicture() {
    guard !isUnbroken else { return }
    decoded = nil
  }

  /// Whether the decoder may go: nothing has arrived for a while. The next change then costs a key frame.
  package func isAtRest(_ now: Timestamp) -> Bool {
    isCurrent && !isReady && (newest.map { now - $0 >= Self.attention } ?? true)
  }
}
