// Casts pictures and sound that this program makes: a square that breathes, with a hum. Prints the link for viewers.
// Usage: OwnSource [SECONDS]; without SECONDS it goes on until Ctrl-C.

import Dispatch
import Logging
import RTCast
import Synchronization

/// Pictures, 320x240, 25 a second.
final class Breathing: VideoCapturer {
  let supportedFormats = [VideoFormat(size: PixelSize(width: 320, height: 240), frameRates: 1...25, pixelFormat: .bgra)]
  let isScreencast = true
  private let square = PixelRect(x: 120, y: 80, width: 80, height: 80)
  private let pool = PixelBufferPool()
  private let ticker = Ticker()

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    let (size, rate) = (supportedFormats[0].size, min(25, max(1, format.frameRates.upperBound)))
    let accepted = VideoFormat(size: size, frameRates: rate...rate, pixelFormat: .bgra)
    let started = ticker.start(every: 1 / rate) { [self] step in
      if step == 0 { consumer.captureDidStart(.success(accepted)) }
      // The pool lends memory that no picture uses any more. It holds old bytes, so every pixel is drawn.
      let pixels = pool.buffer(.bgra, size) { _, bytes, stride in
        for y in 0..<240 { for x in 0..<320 * 4 { bytes[y * stride + x] = shade(x / 4, y, step) } }
      }
      guard let pixels else { return }
      // `damage` is what differs from the picture before: only that is converted and encoded. Nil means everything.
      let damage = step == 0 ? nil : [square]
      consumer.consume(VideoFrame(buffer: pixels, captureTime: MonotonicClock.now(), damage: damage, colorSpace: .sRGB))
    }
    if !started { consumer.captureDidStart(.failure(.alreadyStarted)) }
  }

  func stopCapture() { ticker.stop() }
}

extension Breathing {
  private func shade(_ x: Int, _ y: Int, _ step: Int) -> UInt8 {
    let isInside = (square.x..<square.maxX).contains(x) && (square.y..<square.maxY).contains(y)
    return isInside ? UInt8(abs(step % 100 - 50) + 150) : 60
  }
}

/// Sound, 500 Hz in blocks of 10 ms. Any other length and rate would do.
final class Hum: AudioSource {
  private let ticker = Ticker()

  func startCapture(consumer: any AudioConsumer) {
    let samples = (0..<960).map { Float($0 / 2 % 96) / 960 - 0.05 }  // left and right in turn
    let started = ticker.start(every: 0.01) { step in
      if step == 0 { consumer.audioCaptureDidStart(.success(.opus)) }
      consumer.consume(AudioFrame(format: .opus, samples: samples, captureTime: MonotonicClock.now()))
    }
    if !started { consumer.audioCaptureDidStart(.failure(.alreadyStarted)) }
  }

  func stopCapture() { ticker.stop() }
}

/// Calls a body at a steady rate on a queue of its own: `consume` lasts as long as an encode, too long for a `Task`.
final class Ticker: Sendable {
  private static let isOurs = DispatchSpecificKey<ObjectIdentifier>()
  private let queue = DispatchQueue(label: "ticker")
  private let current = Mutex<DispatchWorkItem?>(nil)

  /// - Returns: false while it runs already.
  func start(every seconds: Double, _ body: @escaping @Sendable (_ step: Int) -> Void) -> Bool {
    queue.setSpecific(key: Self.isOurs, value: ObjectIdentifier(self))
    return current.withLock { current in
      guard current == nil else { return false }
      let timer = DispatchSource.makeTimerSource(queue: queue)
      let end = DispatchWorkItem { timer.cancel() }
      let step = Atomic(0)
      timer.setEventHandler { body(step.add(1, ordering: .relaxed).oldValue) }
      timer.schedule(deadline: .now(), repeating: seconds)
      timer.activate()
      current = end
      return true
    }
  }

  /// After it returns the body is not called any more. Inside the body it does not wait: that call is the last.
  func stop() {
    guard
      let end = current.withLock({ current in
        defer { current = nil }; return current
      })
    else { return }
    if DispatchQueue.getSpecific(key: Self.isOurs) == ObjectIdentifier(self) {
      end.perform()
    } else {
      queue.sync(execute: end)
    }
  }
}

let broadcast = Broadcast(MediaSource(video: Breathing(), audio: Hum()), peers: try PeerLoop())
let server = try await SignalingServer.start(
  SignalingServerConfiguration(), sessions: broadcast.whep, logger: Logger(label: "cast"))
_ = try await broadcast.start()
print("Open \(server.link)")
if let seconds = CommandLine.arguments.dropFirst().first.flatMap(Double.init) {
  try await Task.sleep(for: .seconds(seconds))
  print("\(await broadcast.statistics().framesCaptured) pictures a second")
  await broadcast.stop()
} else {
  for await event in broadcast.events { print(event) }
}
