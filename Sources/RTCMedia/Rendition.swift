/// Names one unbroken run of frames of a track: the frames of one encoder, or of one file passed through. A viewer is on
/// one rendition at a time and changes only at a key frame.
public struct Rendition: Hashable, Sendable, BitwiseCopyable {
  /// Different for each rendition of a source.
  public var number: UInt32
  /// - Parameter number: different for each rendition of a source.
  public init(_ number: UInt32) { self.number = number }

  /// The rendition of the broadcast's own encoder.
  public static let encoded = Rendition(0)
}
