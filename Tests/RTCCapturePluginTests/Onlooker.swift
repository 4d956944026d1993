import Dispatch
import RTCCapturePlugin
import RTCMedia
import RTCPrimitives
import Synchronization

/// A consumer of pictures and sound that a test waits for; waiting ends after twenty seconds, so that a test fails and
/// does not hang.
final class Onlooker: VideoConsumer, AudioConsumer {
  struct Picture: Sendable {
    var size: PixelSize
    var format: PixelFormat
    /// The first and the last byte of the first plane.
    var first: UInt8
    var last: UInt8
    var captureTime: Timestamp
    var hasDamage: Bool
    /// Where its first plane lies.
    var address: UInt
  }

  struct Seen: Sendable {
    var start: Result<VideoFormat, CaptureError>?
    var soundStart: Result<AudioFormat, CaptureError>?
    var pictures: [Picture] = []
    var sounds: [AudioFrame] = []
    var end: CaptureEnd?
    var soundEnd: CaptureEnd?
    var notices: [String] = []
    /// Leases not given back.
    var kept: [VideoFrame] = []
  }

  private let seen = Mutex(Seen())
  private let bell = DispatchSemaphore(value: 0)
  private let keeps: @Sendable (Int) -> Bool
  private let onPicture: @Sendable (Int) -> Void

  /// - Parameters:
  ///   - keeps: whether the lease on the picture with this number, from 0, is kept.
  ///   - onPicture: called inside the callback.
  init(
    keeps: @escaping @Sendable (Int) -> Bool = { _ in false }, onPicture: @escaping @Sendable (Int) -> Void = { _ in }
  ) {
    self.keeps = keeps
    self.onPicture = onPicture
  }

  var now: Seen { seen.withLock { $0 } }

  func letGo() {
    seen.withLock { seen in
      defer { seen.kept = [] }; return seen.kept
    }.forEach { _ in }
  }

  /// True as soon as `condition` holds.
  func wait(for condition: (Seen) -> Bool) -> Bool {
    let limit = DispatchTime.now() + .seconds(20)
    while !condition(now) {
      // Looks again now and then, for conditions on more than what is seen here.
      if DispatchTime.now() > limit { return false }
      _ = bell.wait(timeout: .now() + .milliseconds(20))
    }
    return true
  }

  private func note(_ change: (inout Seen) -> Void) {
    seen.withLock { change(&$0) }
    bell.signal()
  }

  var noticing: @Sendable (String) -> Void { { [self] sentence in note { $0.notices.append(sentence) } } }

  func captureDidStart(_ result: Result<VideoFormat, CaptureError>) { note { $0.start = result } }
  func captureDidEnd(_ reason: CaptureEnd) { note { $0.end = reason } }
  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) { note { $0.soundStart = result } }
  func audioCaptureDidEnd(_ reason: CaptureEnd) { note { $0.soundEnd = reason } }
  func consume(_ frame: AudioFrame) { note { $0.sounds.append(frame) } }

  func consume(_ frame: VideoFrame) {
    let bytes = frame.buffer.bytes(ofPlane: 0)
    let picture = Picture(
      size: frame.size, format: frame.buffer.format, first: bytes[0], last: bytes[bytes.count - 1],
      captureTime: frame.captureTime, hasDamage: frame.damage != nil,
      address: UInt(bitPattern: frame.buffer.unsafePlane(0).base))
    let number = seen.withLock { $0.pictures.count }
    onPicture(number)
    note { seen in
      seen.pictures.append(picture)
      if keeps(number) { seen.kept.append(frame) }
    }
  }
}

/// A started plugin and what it delivers.
struct Stage {
  let plugin: PluginSource
  let onlooker: Onlooker

  /// - Parameter options: for the plugin, `do=...` and so on.
  init(
    _ path: String, _ options: [(key: String, value: String)] = [], frameRate: Double = 500,
    isolation: PluginHostProgram? = nil, patience: PluginPatience = PluginPatience(), onlooker: Onlooker = Onlooker()
  ) throws {
    self.onlooker = onlooker
    plugin = try PluginSource(
      path: path, settings: PluginSettings(options: options, frameRate: frameRate), isolation: isolation,
      patience: patience, onNotice: onlooker.noticing)
  }

  func start(pictures: Bool = true, sound: Bool = false) {
    if pictures, let video = plugin.source.video {
      video.startCapture(format: video.supportedFormats[0], consumer: onlooker)
    }
    if sound { plugin.source.audio?.startCapture(consumer: onlooker) }
  }

  func stop() {
    plugin.source.video?.stopCapture()
    plugin.source.audio?.stopCapture()
  }

  func wait(for condition: (Onlooker.Seen) -> Bool) -> Bool { onlooker.wait(for: condition) }
}
