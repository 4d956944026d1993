public import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// A source that reads uncompressed pictures of another program: YUV4MPEG2, which states its format, or raw pictures of
/// one format and size.
///
/// Pictures are read directly into the frames' memory. They are shown at the stream's own rate (see `Pacing`), at most
/// at the rate of `startCapture`; the size is the stream's. If a consumer is too slow, pictures are dropped, and
/// reading continues. The capture starts with the first complete picture. The end of the input ends it with
/// `.finished`; if it is damaged or ends within a picture, a notice says so, after all complete pictures were shown.
/// After a stop, another start continues with the next complete picture.
public final class PipeCapturer: VideoCapturer {
  /// The format of the stream.
  public enum Format: Hashable, Sendable {
    /// With a header; 8 to 16 bits, 4:2:0, 4:2:2, 4:4:4 or grey.
    case yuv4mpeg2
    /// Pictures one after another, rows and planes without gaps. 1x1 to 8192x8192.
    case raw(PixelFormat, PixelSize)
  }

  /// When pictures are shown.
  public enum Pacing: Hashable, Sendable {
    /// At the stream's rate; a writer that is faster is made to wait, from one that is slower they come as they come.
    case streamRate
    /// As they arrive, whatever rate the stream states.
    case arrival
  }

  /// How the stream is read and shown.
  public struct Options: Sendable {
    /// The format of the stream.
    public var format = Format.yuv4mpeg2
    /// When its pictures are shown.
    public var pacing = Pacing.streamRate
    /// Pictures a second of a stream that does not say, 0.01…1000; nil: as they come, 60 at most.
    public var frameRate: Double?
    /// The matrix of YUV pictures; nil: BT.709 from 1280 columns or above 576 rows on, else BT.601, as players do.
    public var colorSpace: ColorSpace?
    /// The pictures are of a screen or drawn: keep letters sharp.
    public var isScreencast = false

    /// A YUV4MPEG2 stream at its own rate.
    public init() {}
  }

  private let input: PipeInput
  private let options: Options
  private let notice: @Sendable (String) -> Void
  private let thread = WorkerThread()
  /// The state of the stream between two runs.
  private let stream = Mutex(PipeStream())

  /// - Parameter onNotice: gets sentences worth knowing that end nothing (waiting for a writer, odd pixels). Called on the
  ///   capturer's thread.
  public init(
    _ input: PipeInput, options: Options = Options(), onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.input = input
    self.options = options
    notice = onNotice
  }

  /// The formats of the stream.
  public var supportedFormats: [VideoFormat] {
    switch options.format {
    case .raw(let format, let size):
      let rate = options.frameRate ?? PipeRun.unstatedRate
      return [VideoFormat(size: size, frameRates: 0...rate, pixelFormat: format)]
    case .yuv4mpeg2:
      // Known when the header was read; until then, something likely.
      return [VideoFormat(size: PixelSize(width: 1280, height: 720), frameRates: 0...1000, pixelFormat: .i420)]
    }
  }

  /// Whether the pictures are a screencast, as set in the options.
  public var isScreencast: Bool { options.isScreencast }

  /// Starts to read. See `VideoCapturer.startCapture(format:consumer:)`.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (input, options, notice) = (input, options, notice)
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-pipe") { [self] run in
        var reading = PipeRun(
          input: input, options: options, limit: format.frameRates.upperBound, notice: notice, run: run,
          stream: stream.withLock { $0 })
        let end = reading.deliver(to: consumer)
        // Stored before the consumer is notified of the end, so that it may start the capturer again at once.
        let stream = reading.stream
        self.stream.withLock { $0 = stream }
        switch end {
        case .stopped: break
        case .refused(let error):
          run.noteEnded()
          consumer.captureDidStart(.failure(error))
        case .ended(let reason):
          run.noteEnded()
          consumer.captureDidEnd(reason)
        }
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Ends the capture and waits for its thread, except inside a callback.
  public func stopCapture() { thread.stop() }
}

/// A stream and where reading it stands.
struct PipeStream: Sendable {
  enum Position: Sendable {
    /// Within a header line, whose bytes so far are kept.
    case line([UInt8])
    /// Within a picture; how many of its bytes were read.
    case picture(Int)
  }

  var connection: PipeConnection?
  var layout: PipeLayout?
  /// The frame rate of the stream.
  var frameRate: Double?
  var position = Position.line([])
  /// Whole pictures read.
  var pictures = 0
  /// Whether the stream has ended.
  var isOver = false
}
