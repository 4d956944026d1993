public import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// A source that reads uncompressed pictures, which another program writes: YUV4MPEG2, which says itself what it holds,
/// or bare pictures of one format and size.
///
/// Pictures are read straight into the frames' memory. They are shown at the stream's own rate (see `Pacing`), at most
/// as many a second as `startCapture` is asked for; the size is the stream's. A consumer that is too slow has pictures left
/// out, and reading goes on. The capture starts with the first whole picture. The end of the input ends it with
/// `.finished`; when it is damaged or ends within a picture, a notice says so, after all whole pictures were shown. After
/// a stop, another start goes on with the next whole picture.
public final class PipeCapturer: VideoCapturer {
  /// What the stream holds.
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
    /// As they come, whatever rate the stream states.
    case arrival
  }

  /// How the stream is read and shown.
  public struct Options: Sendable {
    /// What the stream consists of.
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
  /// Where the stream stands between two runs.
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

  /// See `VideoCapturer.supportedFormats`.
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

  /// See `VideoCapturer.isScreencast`.
  public var isScreencast: Bool { options.isScreencast }

  /// See `VideoCapturer.startCapture(format:consumer:)`.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (input, options, notice) = (input, options, notice)
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-pipe") { [self] run in
        var reading = PipeRun(
          input: input, options: options, limit: format.frameRates.upperBound, notice: notice, run: run,
          stream: stream.withLock { $0 })
        let end = reading.deliver(to: consumer)
        // Kept before the consumer hears of the end, so that it may start the capturer again at once.
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
    /// Within a header line; what was read of it.
    case line([UInt8])
    /// Within a picture; how many of its bytes were read.
    case picture(Int)
  }

  var connection: PipeConnection?
  var layout: PipeLayout?
  /// As the stream says.
  var frameRate: Double?
  var position = Position.line([])
  /// Whole pictures read.
  var pictures = 0
  /// Nothing comes any more.
  var isOver = false
}
