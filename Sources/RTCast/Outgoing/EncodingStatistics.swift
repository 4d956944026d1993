package import RTCMedia
package import RTCPrimitives

/// Totals of one encoder since it was made. Subtract two snapshots for the values of an interval.
package struct EncodingStatistics: Hashable, Sendable {
  /// The coded size; nil before the first frame.
  package var size: PixelSize?
  package var contentHint = ContentHint.detail
  package var framesCaptured: UInt64 = 0
  /// All frames, refinements and key frames included.
  package var framesEncoded: UInt64 = 0
  package var keyFrames: UInt64 = 0
  /// Frames that improved a resting picture.
  package var refinements: UInt64 = 0
  /// Captured pictures that became no frame.
  package var leftOut = LeftOutPictures()
  package var bytesEncoded: UInt64 = 0
  /// Pictures of which pixels were converted or copied for the encoder; the others are read where they lie.
  package var framesConverted: UInt64 = 0
  /// Full passes over pixels beyond the one conversion.
  package var rawCopies: UInt64 = 0
  /// The quantiser of the last frame, in the codec's own scale.
  package var quantizer = 0
  /// From the taking of pictures to their arrival here.
  package var captureTime = TimeDelta.zero
  package var convertTime = TimeDelta.zero
  package var encodeTime = TimeDelta.zero

  package init() {}

  /// Pictures that were converted for an encoder or read by it.
  package var framesTaken: UInt64 { framesCaptured - leftOut.busy - leftOut.exact }

  /// Pictures captured and encoded since `before`. Zero if `before` belongs to another encoder that had made more: the
  /// encoders of the two rungs can be exchanged.
  package func frames(since before: EncodingStatistics) -> (captured: Int64, encoded: Int64) {
    (
      Int64(framesCaptured - min(framesCaptured, before.framesCaptured)),
      Int64(framesEncoded - min(framesEncoded, before.framesEncoded))
    )
  }
}
