import CLinux
public import RTCMedia
import RTCNet
import RTCPrimitives

/// A source that draws its own pictures, at a steady rate on its own thread. Any size from 16x16 to 8192x8192, any rate
/// above 0 up to 1000.
///
/// Frame numbers follow the clock: when the consumer is slow, pictures are left out and never delayed.
public final class SyntheticCapturer: VideoCapturer {
  /// The pattern that it draws.
  public let pattern: SyntheticPattern
  private let seed: UInt64
  private let frameLimit: UInt64?
  private let thread = WorkerThread()

  /// - Parameters:
  ///   - seed: the same seed draws the same pictures.
  ///   - frameLimit: the source ends by itself after this frame number; nil: it runs until stopped.
  public init(pattern: SyntheticPattern, seed: UInt64 = 1, frameLimit: UInt64? = nil) {
    self.pattern = pattern
    self.seed = seed
    self.frameLimit = frameLimit
  }

  /// BGRA in any size.
  public var supportedFormats: [VideoFormat] {
    [(1920, 1080), (1280, 720), (640, 360)].map {
      VideoFormat(size: PixelSize(width: $0.0, height: $0.1), frameRates: 0...1000, pixelFormat: .bgra)
    }
  }

  /// Whether the pattern is like a screen.
  public var isScreencast: Bool { pattern.isScreencast }

  /// Starts to draw. See `VideoCapturer.startCapture(format:consumer:)`.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (pattern, seed, frameLimit) = (pattern, seed, frameLimit)
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-synthetic") { run in
        let drawing = SyntheticRun(pattern: pattern, seed: seed, frameLimit: frameLimit, run: run)
        drawing.deliver(format, to: consumer)
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Ends the capture and waits for its thread, except inside a callback.
  public func stopCapture() { thread.stop() }
}

/// One run of the source, on its thread.
private struct SyntheticRun {
  let pattern: SyntheticPattern
  let seed: UInt64
  let frameLimit: UInt64?
  let run: WorkerRun

  func deliver(_ format: VideoFormat, to consumer: any VideoConsumer) {
    if let refusal = refusal(of: format) {
      run.noteEnded()
      return consumer.captureDidStart(.failure(.unsupportedFormat(refusal)))
    }
    let rate = format.frameRates.upperBound
    consumer.captureDidStart(
      .success(VideoFormat(size: format.size, frameRates: rate...rate, pixelFormat: .bgra)))
    deliver(size: format.size, interval: .seconds(1 / rate), to: consumer)
  }

  private func refusal(of format: VideoFormat) -> String? {
    let (size, rate) = (format.size, format.frameRates.upperBound)
    if !(16...8192).contains(size.width) || !(16...8192).contains(size.height) {
      return "A test picture can be 16x16 to 8192x8192 pixels, not \(size)."
    }
    if !(rate > 0 && rate <= 1000) { return "A test picture can have up to 1000 frames a second, not \(rate)." }
    return format.pixelFormat == .bgra ? nil : "Test pictures come as BGRA, not as \(format.pixelFormat.rawValue)."
  }

  private func deliver(size: PixelSize, interval: TimeDelta, to consumer: any VideoConsumer) {
    let start = MonotonicClock.now()
    var pool: [SyntheticCanvas] = []
    var last: UInt64?
    while !run.isStopped {
      let now = MonotonicClock.now()
      let frame = UInt64((now - start).nanoseconds / interval.nanoseconds)
      if let last, frame <= last {
        run.wait(until: start + interval * Int64(last + 1))
        continue
      }
      if let frameLimit, frame >= frameLimit {
        run.noteEnded()
        return consumer.captureDidEnd(.finished)
      }
      let canvas = freeCanvas(in: &pool, size: size)
      canvas.draw(pattern, frame: frame, seed: seed, milliseconds: WallClock.milliseconds)
      let damage = last.flatMap { SyntheticPicture.damage(pattern, from: $0, to: frame, in: size) }
      last = frame
      consumer.consume(VideoFrame(buffer: canvas.memory.lease(), captureTime: now, damage: damage, colorSpace: .sRGB))
    }
  }

  private func freeCanvas(in pool: inout [SyntheticCanvas], size: PixelSize) -> SyntheticCanvas {
    if let free = pool.first(where: { !$0.memory.isLeased }) { return free }
    let canvas = SyntheticCanvas(size: size)
    // A consumer that keeps many pictures gets fresh memory each time; the pool itself stays small.
    if pool.count < 3 { pool.append(canvas) }
    return canvas
  }
}

private enum WallClock {
  /// Milliseconds since 1970 modulo 2³².
  static var milliseconds: UInt32 {
    UInt32(truncatingIfNeeded: clinux_realtime_nanoseconds() / 1_000_000)
  }
}

/// One picture, drawn by the source's thread while it is not leased.
private final class SyntheticCanvas {
  let memory: PictureMemory
  /// The frame drawn here before.
  private var shown: UInt64?

  init(size: PixelSize) { memory = PictureMemory(format: .bgra, size: size) }

  /// Draws what differs from the frame drawn here before.
  func draw(_ pattern: SyntheticPattern, frame: UInt64, seed: UInt64, milliseconds: UInt32) {
    let size = memory.size
    let changed =
      shown.flatMap { SyntheticPicture.damage(pattern, from: $0, to: frame, in: size) } ?? [PixelRect(size)]
    shown = frame
    // It is not leased; the canvas ends with this call.
    let pixels = unsafe memory.bytes.assumingMemoryBound(to: UInt32.self)
    var canvas = unsafe PixelCanvas(size: size, pixels: pixels.mutableSpan)
    for rect in changed {
      canvas.setClip(rect)
      SyntheticPicture.draw(pattern, frame: frame, seed: seed, milliseconds: milliseconds, into: &canvas)
    }
  }
}

/// The pattern of a synthetic source.
public enum SyntheticPattern: String, Hashable, Sendable, CaseIterable {
  /// Colour bars over a grey ramp, with one small moving block.
  case bars
  /// A clock face with moving hands, and frame number and drawing time as letters and as a bar code.
  case clock
  /// Every pixel random in every frame: the worst case for an encoder.
  case noise
  /// A smooth gradient that moves.
  case gradient
  /// A page of letters that scrolls.
  case scrollText = "scroll-text"

  /// Noise is a moving picture like a camera's; all else is drawings.
  public var isScreencast: Bool { self != .noise }
}
