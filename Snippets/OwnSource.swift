// A source of one's own: a grey that breathes, with a hum. Anything that can fill pixels and samples can be cast.

import RTCast
import Synchronization

final class Breathing: VideoCapturer, AudioSource {
  let supportedFormats = [VideoFormat(size: PixelSize(width: 320, height: 240), frameRates: 1...25, pixelFormat: .bgra)]
  let isScreencast = false
  private let consumers = Mutex<(picture: (any VideoConsumer)?, sound: (any AudioConsumer)?)>((nil, nil))

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    consumers.withLock { $0.picture = consumer }
    consumer.captureDidStart(.success(supportedFormats[0]))
  }

  func startCapture(consumer: any AudioConsumer) {
    consumers.withLock { $0.sound = consumer }
    consumer.audioCaptureDidStart(.success(.opus))
  }

  func stopCapture() { consumers.withLock { $0 = (nil, nil) } }

  /// Hands over a hundredth of a second of sound, and every fourth time a picture.
  func breathe(_ step: Int) {
    let (now, (picture, sound)) = (MonotonicClock.now(), consumers.withLock { $0 })
    let hum = (0..<960).map { Float($0 / 2 % 96) / 960 - 0.05 }  // 500 Hz, the same left and right
    sound?.consume(AudioFrame(format: .opus, samples: hum, captureTime: now))
    guard let picture, step % 4 == 0 else { return }
    let pixels = PixelBuffer.allocate(format: .bgra, size: supportedFormats[0].size) { _, bytes, _ in
      for index in bytes.indices { bytes[index] = UInt8(abs(step % 200 - 100) + 50) }
    }
    if let pixels { picture.consume(VideoFrame(buffer: pixels, captureTime: now, colorSpace: .sRGB)) }
  }
}

let source = Breathing()
let broadcast = Broadcast(MediaSource(video: source, audio: source), peers: try PeerLoop())
_ = try await broadcast.start()
for step in 0..<200 {
  source.breathe(step)
  try await Task.sleep(for: .milliseconds(10))
}
print("\(await broadcast.statistics().framesCaptured) pictures a second")
await broadcast.stop()
