import RTCEngine
import RTCMedia
import RTCNet
import RTCPrimitives

/// The decoders and the memory of the thread that makes still pictures of relayed streams.
struct PictureWorkshop: ~Copyable {
  private struct Held {
    var decoder: any VideoDecoder
    var used: Timestamp
  }

  /// Each decoder keeps pictures of the stream's own size.
  private static let mostDecoders = 36

  var encoder = StillEncoder()
  /// The time for which starts of decoders were waited for since it was last taken.
  private var startTime = TimeDelta.zero
  private var held: [ObjectIdentifier: Held] = [:]

  init() {}

  /// Decodes frames of a stream, of which the last shows the picture.
  /// - Returns: nil if the frames show nothing.
  mutating func decode(
    _ frames: [ReceivedFrame], of stream: RelayedPictures, _ factories: [VideoCodec: VideoDecoderFactory]
  ) throws(VideoDecoderError) -> VideoFrame? {
    var shown: VideoFrame?
    for frame in frames {
      let decoder = try decoder(of: frame.codec, stream, factories)
      guard let buffer = try decoder.decode(frame.data) else { continue }
      shown = VideoFrame(
        buffer: buffer, captureTime: frame.received, rotation: frame.rotation,
        colorSpace: frame.colorSpace ?? decoder.colorSpace ?? .bt601Limited)
    }
    return shown
  }

  /// The time for which starts of decoders were waited for since the last call.
  mutating func takeStartTime() -> TimeDelta {
    defer { startTime = .zero }
    return startTime
  }

  /// Ends a stream's decoder.
  mutating func release(_ stream: RelayedPictures) { held[ObjectIdentifier(stream)] = nil }

  private mutating func decoder(
    of codec: VideoCodec, _ stream: RelayedPictures, _ factories: [VideoCodec: VideoDecoderFactory]
  ) throws(VideoDecoderError) -> any VideoDecoder {
    let (id, now) = (ObjectIdentifier(stream), MonotonicClock.now())
    if let known = held[id], known.decoder.codec == codec {
      held[id]?.used = now
      return known.decoder
    }
    held[id] = nil
    if held.count >= Self.mostDecoders, let oldest = held.min(by: { $0.value.used < $1.value.used }) {
      held[oldest.key] = nil
    }
    guard let factory = factories[codec] else { throw .unsupportedPicture("\(codec.rawValue) cannot be decoded here") }
    defer { startTime = startTime + (MonotonicClock.now() - now) }
    let new = try factory()
    held[id] = Held(decoder: new, used: now)
    return new
  }
}
