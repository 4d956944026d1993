import RTCCapture
public import RTCMedia
import RTCNet
import RTCPrimitives

/// Captures a camera by Video4Linux, on its own thread: I420 or NV12, or BGRA of cameras that send JPEG.
///
/// Of the camera's modes the one nearest to the size that is asked for is taken, then one that is fast enough. The light
/// may make a camera slower than it says. A picture that the consumer has no time for is left out.
public final class CameraCapturer: VideoCapturer {
  private let camera: String?
  private let thread = WorkerThread()

  /// What is asked of a camera when nobody says.
  public static let usualSize = PixelSize(width: 1280, height: 720)

  /// - Parameter camera: a path (`/dev/video0`), a number (`0`), a part of the camera's name, or nil for the first there is.
  public init(camera: String? = nil) { self.camera = camera }

  /// Asks the camera; empty when it cannot be opened now. What is taken when nobody says comes first.
  public var supportedFormats: [VideoFormat] {
    guard let device = try? CameraDevice.open(camera) else { return [] }
    return device.formats
  }

  /// False: a camera's picture moves.
  public var isScreencast: Bool { false }

  /// Opens the camera on a thread of its own; the consumer hears there in which mode, or why not. Any thread.
  public func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let camera = camera
    do throws(CaptureError) {
      try thread.startCapture(name: "rtc-camera") { run in Self.capture(camera, format, consumer, run) }
    } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Ends capturing and closes the camera; after it returns the consumer is not called any more. Any thread, any number of times.
  public func stopCapture() { thread.stop() }

  private static func capture(
    _ camera: String?, _ wanted: VideoFormat, _ consumer: any VideoConsumer, _ run: WorkerRun
  ) {
    let rate = wanted.frameRates.upperBound
    let stream: CameraStream
    do throws(CaptureError) {
      guard rate > 0, rate <= 1000 else {
        throw .unsupportedFormat("A camera can be captured up to 1000 times a second, not \(rate) times.")
      }
      let device = try CameraDevice.open(camera)
      guard let mode = CameraMode.best(of: device.modes(near: wanted.size), size: wanted.size, rate: rate) else {
        throw .unsupportedFormat(
          "The camera \(device.name) delivers nothing that is understood here (NV12, I420, YUYV, JPEG).")
      }
      stream = try CameraStream(device, mode, rate: rate)
      do throws(SystemError) { try run.watch(device.descriptor) } catch { throw CaptureError(error) }
      let format = VideoFormat(size: stream.size, frameRates: 0...rate, pixelFormat: mode.encoding.pixelFormat)
      consumer.captureDidStart(.success(format))
    } catch {
      run.noteEnded()
      return consumer.captureDidStart(.failure(error))
    }
    guard let end = deliver(stream, rate, consumer, run), !run.isStopped else { return }
    run.noteEnded()
    consumer.captureDidEnd(end)
  }

  /// Hands on pictures until stopped (nil) or the camera is gone.
  private static func deliver(
    _ stream: CameraStream, _ rate: Double, _ consumer: any VideoConsumer, _ run: WorkerRun
  ) -> CaptureEnd? {
    // A camera's pace is its own: a little early is in time.
    let interval = TimeDelta.seconds(0.8 / rate)
    var last: Timestamp?
    while !run.isStopped {
      run.wait(until: nil)
      guard !run.isStopped else { return nil }
      do throws(CameraLost) {
        guard let picture = try stream.next() else { continue }
        let now = MonotonicClock.now()
        if let last, now - last < interval { continue }
        last = now
        consumer.consume(VideoFrame(buffer: picture.buffer, captureTime: now, colorSpace: picture.colorSpace))
      } catch {
        return .lost("The camera \(stream.device.name) went away: is it still connected?")
      }
    }
    return nil
  }
}
