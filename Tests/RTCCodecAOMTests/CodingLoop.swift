import RTCCodecAOM
import RTCCodecFFmpeg
import RTCMedia
import RTCPrimitives

/// An encoder and a viewer's decoder on a clock of their own.
struct CodingLoop {
  let encoder: AV1Encoder
  let decoder: FFmpegVideoDecoder
  var now = Timestamp.zero + .seconds(Int64(1))
  var shown: PixelBuffer?
  private(set) var frames: [EncodedFrame] = []

  init(_ settings: VideoEncoderSettings) throws {
    encoder = try AV1Encoder(settings)
    decoder = try FFmpegVideoDecoder(.av1)
  }

  @discardableResult
  mutating func encode(changed: [PixelRect]?, keyFrame: Bool = false) throws -> EncodedFrame? {
    try show(encoder.encode(EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)))
  }

  /// Draws `page` and codes it.
  @discardableResult
  mutating func show(_ page: ColourPage, changed: [PixelRect]? = nil) throws -> EncodedFrame? {
    page.draw(into: encoder.picture)
    return try encode(changed: changed)
  }

  /// Refines whenever the encoder wants to, until it is done or `limit` has passed; returns the bytes this took.
  @discardableResult
  mutating func rest(for limit: TimeDelta) throws -> Int {
    let end = now + limit
    var bytes = 0
    while let due = encoder.refinementTime(now: now), due <= end, frames.count < 10_000 {
      now = max(due, now + .milliseconds(1))
      if let frame = try show(encoder.refine(now: now)) { bytes += frame.data.count }
    }
    now = max(now, end)
    return bytes
  }

  private mutating func show(_ frame: EncodedFrame?) throws -> EncodedFrame? {
    guard let frame else { return nil }
    shown = try decoder.decode(frame.data)
    frames.append(frame)
    return frame
  }
}
