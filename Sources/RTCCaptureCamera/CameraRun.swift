import RTCMedia
import RTCNet
package import RTCPrimitives
import Synchronization

/// The requests of a camera's users to its thread, and the thread's results.
final class CameraRequests: Sendable {
  struct State {
    /// The format for passing through; nil while pictures are only decoded.
    var format: EncodedVideoFormat?
    var consumer: (any EncodedVideoConsumer)?
    var consumerAwaitsKeyFrame = true
    var isDecodingWanted = true
    var keyFrames = KeyFramePace()
  }

  let state = Mutex(State())

  var isDecodingWanted: Bool { state.withLock { $0.isDecodingWanted } }

  /// The consumer that `picture` goes to, nil for none.
  func consumer(of picture: CameraH264.Picture) -> (any EncodedVideoConsumer)? {
    state.withLock { state in
      if picture.isKeyFrame {
        state.keyFrames.note(picture.time)
        state.consumerAwaitsKeyFrame = false
      }
      return state.consumerAwaitsKeyFrame ? nil : state.consumer
    }
  }
}

/// One run of a camera, from its opening to its end. On the camera's thread.
struct CameraRun {
  struct Options: Sendable {
    var maximumSize: PixelSize?
    var passesThrough: Bool?
  }

  private let options: Options
  private let requests: CameraRequests
  private let consumer: any VideoConsumer
  private let run: WorkerRun
  /// Whether the consumer was told that the camera runs.
  private var hasStarted = false
  /// Damaged pictures since the last whole one.
  private var damaged = 0
  /// Pictures that could not be decoded since the last that could, each followed by a wait for a key frame.
  private var undecodable = 0
  /// When the newest picture that the consumer got was taken.
  private var last: Timestamp?
  private var passed: UInt64 = 0

  /// The number of consecutive damaged pictures that ends the capture.
  private static let mostDamaged = 100
  private static let mostUndecodable = 10
  /// How long to wait for the first picture, which shows the kind of H.264; without it, pictures are decoded.
  private static let patience = TimeDelta.seconds(2)

  init(_ options: Options, _ requests: CameraRequests, _ consumer: any VideoConsumer, _ run: WorkerRun) {
    self.options = options
    self.requests = requests
    self.consumer = consumer
    self.run = run
  }

  /// Why a camera ends by itself.
  private enum End: Error {
    case lost, damaged
  }

  /// Opens the camera and delivers pictures until stopped, or until the camera is gone.
  mutating func capture(_ camera: String?, _ wanted: VideoFormat) {
    requests.state.withLock { $0 = CameraRequests.State() }
    let stream: CameraStream
    do throws(CaptureError) {
      stream = try open(camera, wanted)
    } catch {
      run.noteEnded()
      return consumer.captureDidStart(.failure(error))
    }
    do throws(End) {
      if stream.encoding == .h264 {
        try deliverH264(stream, wanted)
      } else {
        start(stream, wanted)
        try deliver(stream, wanted)
      }
    } catch {
      guard !run.isStopped else { return }
      run.noteEnded()
      let sentence = sentence(of: error, stream.device.name)
      if hasStarted {
        consumer.captureDidEnd(.lost(sentence))
      } else {
        consumer.captureDidStart(.failure(.unavailable(sentence)))
      }
    }
  }

  private func open(_ camera: String?, _ wanted: VideoFormat) throws(CaptureError) -> CameraStream {
    let rate = wanted.frameRates.upperBound
    guard rate > 0, rate <= 1000 else {
      throw .unsupportedFormat("A camera can be captured up to 1000 times a second, not \(rate) times.")
    }
    let device = try CameraDevice.open(camera)
    let modes = device.modes(near: wanted.size)
    guard let mode = CameraMode.best(of: modes, size: wanted.size, rate: rate, prefersH264: options.passesThrough)
    else {
      throw .unsupportedFormat(
        "The camera \(device.name) delivers none of the supported formats (NV12, I420, YUYV, H.264, JPEG).")
    }
    let stream = try CameraStream(device, mode, rate: rate)
    do throws(SystemError) { try run.watch(device.descriptor) } catch { throw CaptureError(error) }
    return stream
  }

  private mutating func start(_ stream: CameraStream, _ wanted: VideoFormat) {
    hasStarted = true
    consumer.captureDidStart(
      .success(
        VideoFormat(
          size: stream.size, frameRates: 0...wanted.frameRates.upperBound, pixelFormat: stream.encoding.pixelFormat)))
  }

  private func sentence(of end: End, _ name: String) -> String {
    switch end {
    case .lost: CameraDevice.lost(name)
    case .damaged:
      "The camera \(name) delivers damaged pictures only. Reconnect it, or choose another size."
    }
  }

  // MARK: - Pictures

  private mutating func deliver(_ stream: CameraStream, _ wanted: VideoFormat) throws(End) {
    while !run.isStopped {
      run.wait(until: nil)
      guard !run.isStopped else { return }
      let newest: CameraStream.Newest
      do throws(CameraLost) { newest = try stream.takeNewest() } catch { throw .lost }
      switch newest {
      case .nothing: break
      case .damaged: try noteDamaged()
      case .picture(let buffer):
        damaged = 0
        show(buffer, stream.colorSpace, at: MonotonicClock.now(), wanted)
      }
    }
  }

  private mutating func show(_ buffer: PixelBuffer, _ colorSpace: ColorSpace, at time: Timestamp, _ wanted: VideoFormat)
  {
    // A camera's pace is its own: a little early is in time.
    let interval = TimeDelta.seconds(0.8 / wanted.frameRates.upperBound)
    if let last, time - last < interval { return }
    last = time
    consumer.consume(VideoFrame(buffer: buffer, captureTime: time, colorSpace: colorSpace))
  }

  private mutating func noteDamaged() throws(End) {
    damaged += 1
    if damaged >= Self.mostDamaged { throw .damaged }
  }

  // MARK: - H.264

  private mutating func deliverH264(_ stream: CameraStream, _ wanted: VideoFormat) throws(End) {
    var pictures = CameraH264()
    var first: [CameraH264.Picture] = []
    let deadline = MonotonicClock.now() + Self.patience
    while !pictures.isKnown, !run.isStopped, MonotonicClock.now() < deadline {
      run.wait(until: deadline)
      first += try take(stream, &pictures)
    }
    guard !run.isStopped else { return }
    let format = pictures.format
    requests.state.withLock { $0.format = format.flatMap { canPass($0, stream, wanted) ? $0 : nil } }
    start(stream, wanted)
    for picture in first { pass(picture) }
    while !run.isStopped {
      if !pictures.isDue(isWanted: requests.isDecodingWanted) { run.wait(until: nil) }
      guard !run.isStopped else { return }
      for picture in try take(stream, &pictures) { pass(picture, refusal: pictures.refusal) }
      try decode(&pictures, wanted)
    }
  }

  /// The pictures that wait, in order.
  private mutating func take(
    _ stream: CameraStream, _ pictures: inout CameraH264
  ) throws(End) -> [CameraH264.Picture] {
    var taken: [CameraH264.Picture] = []
    while !run.isStopped {
      let delivery: CameraH264.Delivery?
      do throws(CameraLost) {
        delivery = try stream.takeOldest { pictures.take($0, number: $1, at: MonotonicClock.now()) }
      } catch { throw .lost }
      switch delivery {
      case nil: return taken
      case .nothing: break
      case .damaged: try noteDamaged()
      case .picture(let picture):
        damaged = 0
        taken.append(picture)
      }
    }
    return taken
  }

  private func canPass(_ format: EncodedVideoFormat, _ stream: CameraStream, _ wanted: VideoFormat) -> Bool {
    guard options.passesThrough != false else { return false }
    let limit = options.maximumSize ?? format.size
    // A hundredth too fast (30 for 29.97) does not count.
    return format.size.width <= limit.width && format.size.height <= limit.height
      && stream.rate <= 1.01 * wanted.frameRates.upperBound
  }

  private mutating func pass(_ picture: CameraH264.Picture, refusal: String? = nil) {
    guard let consumer = requests.consumer(of: picture) else { return }
    if let refusal { return consumer.passthroughDidEnd(refusal) }
    consumer.consume(
      EncodedFrame(
        codec: .h264, data: picture.data, isKeyFrame: picture.isKeyFrame, size: picture.size,
        captureTime: picture.time, encodedTime: MonotonicClock.now(), quantizer: 0, rotation: .none,
        contentHint: .motion, number: passed))
    passed += 1
  }

  private mutating func decode(_ pictures: inout CameraH264, _ wanted: VideoFormat) throws(End) {
    let isWanted = requests.isDecodingWanted
    guard pictures.isDue(isWanted: isWanted) else { return }
    switch pictures.decode(isWanted: isWanted) {
    case .hidden: undecodable = 0
    case .damaged:
      undecodable += 1
      if undecodable >= Self.mostUndecodable { throw .damaged }
    case .picture(let buffer, let colorSpace, let time):
      undecodable = 0
      show(buffer, colorSpace, at: time, wanted)
    }
  }
}

/// When a camera's key frames come, judged by the last two.
package struct KeyFramePace: Sendable {
  private var last: Timestamp?
  private var interval: TimeDelta?

  package init() {}

  package mutating func note(_ time: Timestamp) {
    interval = last.map { time - $0 }
    last = time
  }

  /// Nil while unknown: before the second, and when the next is late by half of the interval.
  package func timeToNext(_ now: Timestamp) -> TimeDelta? {
    guard let last, let interval, now - last < interval * 3 / 2 else { return nil }
    return max(.zero, last + interval - now)
  }
}
