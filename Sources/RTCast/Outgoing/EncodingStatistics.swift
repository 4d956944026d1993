package import RTCMedia
package import RTCPrimitives

/// Totals of one encoder since it was made. What happened in between is the difference of two snapshots.
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
  /// Captured frames left out for lack of bits; their changes came with a later frame.
  package var framesDropped: UInt64 = 0
  package var bytesEncoded: UInt64 = 0
  /// Full passes over pixels beyond the one conversion.
  package var rawCopies: UInt64 = 0
  /// The quantiser of the last frame, in the codec's own scale.
  package var quantizer = 0
  /// From the taking of pictures to their arrival here.
  package var captureTime = TimeDelta.zero
  package var convertTime = TimeDelta.zero
  package var encodeTime = TimeDelta.zero

  package init() {}
}
