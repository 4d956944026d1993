public import RTCMedia
public import RTCPrimitives

/// How long encoding takes on this machine, by format: what `CodecRegistry.measureCosts` found, here or in an earlier run.
public struct CodecCosts: Hashable, Sendable {
  /// One way to encode, and what it takes.
  public struct Entry: Hashable, Sendable {
    /// What is encoded with.
    public var codec: VideoCodec
    /// How finely colours are sampled.
    public var chroma: ChromaSampling
    /// Of a scrolling page of text, for each megapixel of the picture; of one thread.
    public var perMegapixel: TimeDelta

    /// One way to encode, and what it takes.
    public init(codec: VideoCodec, chroma: ChromaSampling, perMegapixel: TimeDelta) {
      (self.codec, self.chroma, self.perMegapixel) = (codec, chroma, perMegapixel)
    }
  }

  /// In no order; what cannot be encoded is not among them.
  public var entries: [Entry]

  /// What encoding takes.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// Nil: not measured.
  public func cost(of codec: VideoCodec, _ chroma: ChromaSampling) -> TimeDelta? {
    entries.first { $0.codec == codec && $0.chroma == chroma }?.perMegapixel
  }
}
