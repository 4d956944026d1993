package import RTCMedia

/// The owner of a codec's library for `BlockEncoder`: codes every picture with the quantiser it is told, and leaves as it is
/// what it is given as viewers have it.
package protocol BlockCoder: AnyObject {
  /// What it makes.
  static var codec: VideoCodec { get }
  /// From the finest to the coarsest quantiser, within 1…63.
  static var scale: ClosedRange<Int> { get }
  /// The side, in blocks of 16×16, of what is coded as one: beside active blocks it may touch others of it.
  static var group: Int { get }
  /// Blocks a refinement may code: 20–30 ms of work at 1080p.
  static var refinementPass: Int { get }

  /// Between which quantisers it is to code.
  static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals
  /// What that costs.
  static func costs(_ chroma: ChromaSampling) -> CostTable
  /// The size of the pictures that it codes for those of `size`: at most one column and row more, which repeat the last.
  static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize

  /// Its first picture is a key frame. Throws `unsupportedSize` for pictures that the codec cannot code.
  init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) throws(VideoEncoderError)
  /// False where these need another coder, and so a key frame.
  func suits(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix) -> Bool
  /// It has filters that also touch what is not coded.
  var hasFilters: Bool { get }

  /// Codes a picture of the coded size and the settings' sampling.
  ///
  /// - Parameters:
  ///   - kept: the blocks in which it is as viewers have it.
  ///   - movement: where the others come from.
  func encode(
    _ picture: InputPicture, quantizer: Int, keyFrame: Bool, kept: [Bool], movement: BlockMovement
  ) throws(VideoEncoderError) -> CodedPicture

  /// Calls `body` with each plane as the viewers' decoders have it after the last picture: its index, first sample, stride,
  /// and bytes from one sample to the next. Valid within the call alone.
  @unsafe
  func withReconstruction(_ body: (_ plane: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int) -> Void)
}
