import RTCEngine
import RTCMedia

/// Pictures passed on as the source has them.
struct PassedPictures: Sendable {
  var codec: VideoCodec
  var size: PixelSize
  var frames: UInt64
  /// Whether there are viewers of these frames, or no viewers at all.
  var isWatched = true
}

/// The pictures of one source as it has them, under a rendition of their own.
final class Passthrough: EncodedVideoConsumer, Sendable {
  let source: any EncodedVideoCapturer
  let format: EncodedVideoFormat
  let rendition: Rendition
  private let send: @Sendable (EncodedFrame) -> Void
  private let ended: @Sendable (Rendition) -> Void

  init(
    _ source: any EncodedVideoCapturer, format: EncodedVideoFormat, rendition: Rendition,
    send: @escaping @Sendable (EncodedFrame) -> Void, ended: @escaping @Sendable (Rendition) -> Void
  ) {
    self.source = source
    self.format = format
    self.rendition = rendition
    self.send = send
    self.ended = ended
  }

  func passthroughDidEnd(_ sentence: String) { ended(rendition) }

  func begin() { source.setPassthrough(to: self) }

  func end() { source.setPassthrough(to: nil) }

  func consume(_ frame: EncodedFrame) {
    var frame = frame
    frame.rendition = rendition
    send(frame)
  }
}
