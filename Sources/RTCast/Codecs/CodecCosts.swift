public import RTCMedia
public import RTCPrimitives

/// How long encoding takes on this machine, by format: what `CodecRegistry.measureCosts` found, here or in an earlier run.
public struct CodecCosts: Hashable, Sendable {
  /// The cost of one way to encode.
  public struct Entry: Hashable, Sendable {
    /// The codec.
    public var codec: VideoCodec
    /// How finely colours are sampled.
    public var chroma: ChromaSampling
    /// Processor time of one thread for each megapixel of a scrolling page of text.
    public var perMegapixel: TimeDelta

    /// Makes the cost of one way to encode.
    public init(codec: VideoCodec, chroma: ChromaSampling, perMegapixel: TimeDelta) {
      (self.codec, self.chroma, self.perMegapixel) = (codec, chroma, perMegapixel)
    }
  }

  /// The costs, in no order; formats that cannot be encoded are absent.
  public var entries: [Entry]

  /// Makes a table of costs.
  public init(_ entries: [Entry]) { self.entries = entries }

  /// Nil: not measured.
  public func cost(of codec: VideoCodec, _ chroma: ChromaSampling) -> TimeDelta? {
    entries.first { $0.codec == codec && $0.chroma == chroma }?.perMegapixel
  }
}
