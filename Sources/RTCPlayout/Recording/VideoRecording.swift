package import RTCEngine
package import RTCMedia
import Synchronization

/// Hands the frames of a received video to a recorder as they came, none decoded. Any thread, in decoding order.
package final class VideoRecording: Sendable {
  private struct State {
    var size = PixelSize(width: 0, height: 0)
    var number: UInt64 = 0
    var timeline = CaptureTimeline()
  }

  private let sink: any EncodedMediaSink
  private let state = Mutex(State())

  package init(into sink: any EncodedMediaSink) { self.sink = sink }

  /// Takes a picture; returns as soon as the sink does.
  package func receive(_ frame: ReceivedFrame) {
    let size = frame.isKeyFrame ? frame.codec.codedSize(of: frame.data.span) : nil
    let encoded = state.withLock { state -> EncodedFrame? in
      if let size { state.size = size }
      guard state.size.width > 0 else { return nil }
      defer { state.number += 1 }
      return EncodedFrame(
        codec: frame.codec, data: frame.data, isKeyFrame: frame.isKeyFrame, size: state.size,
        captureTime: state.timeline.time(of: frame), encodedTime: frame.received, quantizer: 0,
        rotation: frame.rotation, contentHint: .motion, colorSpace: frame.colorSpace, number: state.number)
    }
    if let encoded { sink.take(encoded) }
  }
}
