package import RTCVideoCoding
package import RTCCodecFFmpeg
package import RTCMedia
package import RTCPrimitives

/// An encoder and a viewer's decoder on a clock of their own.
package struct CodingLoop<Coder: BlockCoder> {
  package let encoder: BlockEncoder<Coder>
  package let decoder: FFmpegVideoDecoder
  package var now = Timestamp.zero + .seconds(Int64(1))
  package var shown: PixelBuffer?
  package private(set) var frames: [EncodedFrame] = []

  package init(_ settings: VideoEncoderSettings) throws {
    encoder = try BlockEncoder(settings)
    decoder = try FFmpegVideoDecoder(Coder.codec)
  }

  @discardableResult
  package mutating func encode(changed: [PixelRect]?, keyFrame: Bool = false) throws -> EncodedFrame? {
    try show(encoder.encode(EncodeJob(changed: changed, keyFrame: keyFrame, captureTime: now, now: now)))
  }

  /// Draws `page` and codes it.
  @discardableResult
  package mutating func show(_ page: ColourPage, changed: [PixelRect]? = nil) throws -> EncodedFrame? {
    page.draw(into: encoder.picture)
    return try encode(changed: changed)
  }

  /// Refines whenever the encoder wants to, until it is done or `limit` has passed; returns the bytes this took.
  @discardableResult
  package mutating func rest(for limit: TimeDelta) throws -> Int {
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
