import RTCCapture
public import RTCMedia
import RTCNet
public import RTCPrimitives

/// Captures a camera by Video4Linux, on its own thread: I420 or NV12, or BGRA of cameras that send JPEG.
///
/// Of the camera's modes the one nearest to the size that is asked for is taken, then one that is fast enough. The light
/// may make a camera slower than it says. A picture that the consumer has no time for is left out. H.264 that the camera
/// encodes itself is passed on as it is, and decoded only while somebody wants that.
public final class CameraCapturer: EncodedVideoCapturer {
  private let camera: String?
  private let options: CameraRun.Options
  private let thread = WorkerThread()
  private let requests = CameraRequests()

  /// The default size to ask of a camera.
  public static let usualSize = PixelSize(width: 1280, height: 720)

  /// - Parameters:
  ///   - camera: a path (`/dev/video0`), a number (`0`), a part of the camera's name, or nil for the first.
  ///   - maximumSize: larger pictures are not passed through.
  ///   - passesThrough: whether H.264 of the camera is passed through. True: H.264 is preferred to other formats of the
  ///     same size and rate; false: never; nil: if the alternative is JPEG only.
  public init(camera: String? = nil, maximumSize: PixelSize? = nil, passesThrough: Bool? = nil) {
    self.camera = camera
    options = CameraRun.Options(maximumSize: maximumSize, passesThrough: passesThrough)
  }

  /// The camera's formats, the default first; empty if it cannot be opened now.
  public var supportedFormats: [VideoFormat] {
    guard let device = try? CameraDevice.open(camera) else { return [] }
    return device.formats
  }

  /// False: a camera's picture moves.
  public var isScreencast: Bool { false }

  /// Opens the camera on a thread of its own, on which the consumer gets its mode or an error. Any thread.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (camera, options, requests) = (camera, options, requests)
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-camera") { run in
        var capture = CameraRun(options, requests, consumer, run)
        capture.capture(camera, format)
      }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Ends capturing and closes the camera; after it returns the consumer is not called any more. Any thread, any number of times.
  public func stopCapture() { thread.stop() }

  // MARK: - H.264

  /// The format of the camera's own H.264; nil while it delivers anything else, or H.264 that browsers do not accept.
  public var encodedFormat: EncodedVideoFormat? { requests.state.withLock { $0.format } }

  /// From now on hands encoded pictures to `consumer`, beginning with the next key frame; nil ends that.
  public func setPassthrough(to consumer: (any EncodedVideoConsumer)?) {
    requests.state.withLock { ($0.consumer, $0.consumerAwaitsKeyFrame) = (consumer, true) }
  }

  /// Says whether decoded pictures are wanted; they are at first.
  public func setDecoding(_ isWanted: Bool) {
    requests.state.withLock { $0.isDecodingWanted = isWanted }
    thread.wake()
  }

  /// How long until the next key frame is due, by the last two; nil when that is not known.
  public func timeToNextKeyFrame() -> TimeDelta? {
    requests.state.withLock { $0.keyFrames.timeToNext(MonotonicClock.now()) }
  }
}
