package import RTCMedia
package import RTCPrimitives

/// How a source's pictures are coded by one encoder.
package struct EncodingSettings: Hashable, Sendable {
  /// The quality to preserve when bandwidth is short: sharpness or frame rate.
  package var contentHint: ContentHint
  /// The most frames a second the source delivers.
  package var maxFrameRate: Double
  /// The rate to begin with.
  package var startBitrate: BitRate
  /// The limits of the target bitrate.
  package var bitrates: ClosedRange<BitRate>
  /// Larger pictures are scaled down to fit, keeping their shape; nil = never.
  package var sizeLimit: PixelSize?
  /// Threads the encoder may use for a large picture.
  package var encoderThreads: Int
  /// How long nothing of a film must have come before a coarse picture is improved.
  package var restDelay: TimeDelta
  /// Between two key frames that viewers ask for, as libwebrtc has it: each serves all who ask meanwhile.
  package var keyFrameInterval: TimeDelta
  /// Whether there is a viewer from the start.
  package var isActive: Bool
  /// How finely the encoder samples colours.
  package var chroma: ChromaSampling
  /// In which parts viewers may have the stream, where the codec can.
  package var scalabilityMode: ScalabilityMode

  package init(
    contentHint: ContentHint = .detail, maxFrameRate: Double = 30, startBitrate: BitRate = .megabitsPerSecond(1),
    bitrates: ClosedRange<BitRate> = .kilobitsPerSecond(100)...(.megabitsPerSecond(6)), sizeLimit: PixelSize? = nil,
    encoderThreads: Int = 2, restDelay: TimeDelta = .milliseconds(100),
    keyFrameInterval: TimeDelta = .milliseconds(300), isActive: Bool = true,
    chroma: ChromaSampling = .quarter, scalabilityMode: ScalabilityMode = .l1t1
  ) {
    self.contentHint = contentHint
    self.maxFrameRate = maxFrameRate
    self.startBitrate = startBitrate
    self.bitrates = bitrates
    self.sizeLimit = sizeLimit
    self.encoderThreads = encoderThreads
    self.restDelay = restDelay
    self.keyFrameInterval = keyFrameInterval
    self.isActive = isActive
    self.chroma = chroma
    self.scalabilityMode = scalabilityMode
  }

  /// The size a picture of `source` is coded at: its own, or the largest of its shape within `sizeLimit`.
  package func codedSize(of source: PixelSize) -> PixelSize {
    guard let limit = sizeLimit, limit.width > 0, limit.height > 0 else { return source }
    guard source.width > limit.width || source.height > limit.height else { return source }
    // Compared by cross multiplication; results are even, as chroma is halved.
    if source.width * limit.height > limit.width * source.height {
      let height = source.height * limit.width / source.width
      return PixelSize(width: limit.width, height: max(2, height / 2 * 2))
    }
    let width = source.width * limit.height / source.height
    return PixelSize(width: max(2, width / 2 * 2), height: limit.height)
  }
}

/// An event for the owner of an encoder.
package enum EncoderEvent: Sendable {
  /// Frames from now on are coded at this size.
  case sizeChanged(PixelSize)
  /// Quality is reduced for lack of rate; nil: no longer.
  case limited(QualityLimitation?)
  /// A frame was lost to the encoder; the next may work again.
  case encoderFailed(VideoEncoderError)
  /// A frame was lost, because the processor cannot read the memory with its pixels.
  case pictureUnreadable(DMABufferError)
  /// A frame was lost to the converter.
  case conversionFailed(status: Int)
}
