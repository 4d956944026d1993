package import RTCMedia

/// The settings that hold for a context's whole life: others need a new context, and so a key frame.
package struct CodedFormat: Hashable, Sendable {
  /// The size of the coded picture, in pixels.
  package var size: PixelSize
  package var chroma: ChromaSampling
  /// The matrix of the samples, which are of limited range.
  package var matrix: ColorSpace.Matrix
  package var contentHint: ContentHint
  package var threads: Int
  package var scalabilityMode: ScalabilityMode

  /// - Parameter size: of the coded picture; nil: as in the settings.
  package init(_ settings: VideoEncoderSettings, _ matrix: ColorSpace.Matrix, size: PixelSize? = nil) {
    self.size = size ?? settings.size
    (chroma, self.matrix) = (settings.chroma, matrix)
    (contentHint, threads) = (settings.contentHint, settings.threads)
    scalabilityMode = settings.scalabilityMode
  }
}
