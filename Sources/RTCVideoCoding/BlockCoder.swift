package import RTCMedia

/// The owner of a codec's library, used by `BlockEncoder`. It codes every picture with the quantiser that the caller
/// gives. Blocks that the caller marks as kept stay as viewers have them.
package protocol BlockCoder: AnyObject {
  /// The codec of the pictures that the coder makes.
  static var codec: VideoCodec { get }
  /// The range of quantisers, from the finest to the coarsest, within 1…63.
  static var scale: ClosedRange<Int> { get }
  /// The side, in blocks of 16×16, of a group that is coded as one: the coder may change the other blocks of a group
  /// with an active block.
  static var group: Int { get }
  /// The number of blocks that one refinement may code: 20–30 ms of work at 1080p.
  static var refinementPass: Int { get }

  /// Whether the codec has temporal layers, for `VideoEncoderSettings.scalabilityMode`.
  static var hasLayers: Bool { get }

  /// The quantisers between which the coder is to code, for `settings`.
  static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals
  /// The bytes that new content costs by quantiser, for this sampling of chroma.
  static func costs(_ chroma: ChromaSampling) -> CostTable
  /// The size of the coded pictures for pictures of `size`: at most one column and one row more, which repeat the last.
  static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize

  /// Creates a coder whose first picture is a key frame. Throws `unsupportedSize` for pictures that the codec cannot
  /// code.
  init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError)
  /// Whether this coder can go on with `settings` and `matrix`; if false, they need another coder, and so a key frame.
  func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool
  /// Whether the codec has filters that also change blocks that are not coded.
  var hasFilters: Bool { get }

  /// Codes a picture of the coded size and the settings' sampling.
  ///
  /// - Parameters:
  ///   - kept: the blocks in which it is as viewers have it.
  ///   - movement: where the others come from.
  ///   - isUpper: no later picture needs this one. Always false for a codec without layers.
  func encode(
    _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement, isUpper: Bool
  ) throws(VideoEncoderError) -> CodedPicture

  /// Calls `body` with each plane as the viewers' decoders have it after the last picture: its index, first sample, stride,
  /// and bytes from one sample to the next. Valid within the call alone.
  @unsafe
  func withReconstruction(_ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void)
}

extension BlockCoder {
  /// No layers.
  package static var hasLayers: Bool { false }
}

/// The movement of the blocks that a coder is to code: where in the last picture it is worth looking for them.
package enum BlockMovement: Equatable, Sendable {
  /// The blocks did not move.
  case none
  /// Many blocks come from this number of rows further down in the last picture; from further up where it is negative.
  case scroll(Int)
  case unknown
}

/// A picture as a `BlockCoder` coded it.
package struct CodedPicture {
  /// The bytes of the picture, as in `EncodedFrame.data`.
  package var data: [UInt8]
  /// Whether the picture needs no other picture.
  package var isKeyFrame: Bool

  /// Creates a coded picture from the result of one call of the codec.
  package init(data: [UInt8], isKeyFrame: Bool) {
    self.data = data
    self.isKeyFrame = isKeyFrame
  }
}
