/// How a YUV4MPEG2 stream samples colour: the header's field C.
public struct Y4MSampling: Hashable, Sendable {
  /// How much smaller the colour planes are.
  public enum Chroma: Hashable, Sendable {
    /// Halved both ways (`420jpeg`, `420mpeg2` and `420paldv` differ by less than a pixel in where samples sit).
    case quarter
    /// Halved in width.
    case half
    /// As large as the picture.
    case full
    /// No chroma: shades of grey.
    case none
  }

  /// How chroma is subsampled.
  public var chroma: Chroma
  /// 8…16; samples of more than 8 bits take two bytes, the lower first.
  public var bitDepth: Int
  /// A fourth plane follows, which is passed over.
  public var hasAlpha = false

  /// 1, or 2 in little-endian order.
  public var bytesPerSample: Int { bitDepth > 8 ? 2 : 1 }

  /// - Parameter name: the text after C, in lower case: `420jpeg`, `422p10`, `mono16` …
  public init(_ name: String) throws(Y4MError) {
    let (base, depth) = Self.split(name)
    guard let depth, (8...16).contains(depth) else { throw .unsupportedSampling(name) }
    bitDepth = depth
    switch base {
    case "420jpeg", "420mpeg2", "420paldv", "420": chroma = .quarter
    case "422": chroma = .half
    case "444": chroma = .full
    case "444alpha":
      chroma = .full
      hasAlpha = true
    case "mono": chroma = .none
    default: throw .unsupportedSampling(name)
    }
  }

  /// `422p10` is 422 with 10 bits, `mono16` grey with 16.
  private static func split(_ name: String) -> (base: String, depth: Int?) {
    if name.hasPrefix("mono"), name.count > 4 { return ("mono", Int(digits: name.dropFirst(4))) }
    let parts = name.split(separator: "p", maxSplits: 1, omittingEmptySubsequences: false)
    // `420jpeg`, `420mpeg2`, `420paldv` and `444alpha` have their p elsewhere than before a number.
    guard parts.count == 2, let depth = Int(digits: parts[1]) else { return (name, 8) }
    return (String(parts[0]), depth)
  }
}
