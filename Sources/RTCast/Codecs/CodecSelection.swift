import RTCEngine
import RTCMedia
package import RTCPrimitives

/// The candidates for the main rung's codec, and the choice among them. The side rung is encoded with `fallback`.
package struct CodecSelection: Sendable {
  /// The best first.
  package let formats: [CodedFormat]
  package let fallback: CodedFormat
  package var chooser: CodecChooser

  /// - Parameter formats: the best first, not empty, and what each takes for a megapixel.
  package init(
    _ formats: [(format: CodedFormat, cost: TimeDelta)], fallback: CodedFormat, processors: Int,
    expecting situation: CodecChooser.Situation
  ) {
    self.formats = formats.map(\.format)
    self.fallback = fallback
    chooser = CodecChooser(
      formats.map { CodecChooser.Candidate(isFullChroma: $0.format.chroma == .full, cost: $0.cost) },
      processors: processors, situation: situation)
  }
}
