// A source of one's own: a grey that breathes. Anything that can fill pixels can be cast.

import RTCMedia
import RTCPeer
import RTCPrimitives
import RTCast
import Synchronization

final class Breathing: VideoCapturer {
  private let consumer = Mutex<(any VideoConsumer)?>(nil)
  let supportedFormats = [VideoFormat(size: PixelSize(width: 320, height: 240), frameRates: 1...30, pixelFormat: .bgra)]
  let isScreencast = false

  func startCapture(format: VideoFormat, consumer: any VideoConsumer) {
    self.consumer.withLock { $0 = consumer }
    consumer.captureDidStart(.success(format))
  }

  func stopCapture() { consumer.withLock { $0 = nil } }

  /// Draws and hands over one frame; call it as often as you have something new.
  func draw(grey: UInt8, at time: Timestamp) {
    let size = supportedFormats[0].size
    guard let consumer = consumer.withLock({ $0 }),
      let pixels = PixelBuffer.allocate(
        format: .bgra, size: size,
        fill: { _, bytes, _ in for index in bytes.indices { bytes[index] = grey } })
    else { return }
    consumer.consume(VideoFrame(buffer: pixels, captureTime: time, colorSpace: .sRGB))
  }
}

let source = Breathing()
let broadcast = Broadcast(source, peers: try PeerLoop())
_ = try await broadcast.start()
for step in 0..<255 { source.draw(grey: UInt8(step), at: Timestamp(nanoseconds: Int64(step) * 33_000_000)) }
await broadcast.stop()
