public import RTCMedia

/// The first line of a YUV4MPEG2 stream: what all its pictures have in common (mjpegtools, yuv4mpeg(5)).
///
///     YUV4MPEG2 W1280 H720 F30000:1001 Ip A1:1 C420jpeg XCOLORRANGE=LIMITED
///
/// Fields stand in any order. Width and height must be there; everything else has a default.
public struct Y4MHeader: Hashable, Sendable {
  /// 1…8192 each.
  public var size: PixelSize
  /// Frames a second, 0.01…1000; nil when the stream does not say (no `F`, or `F0:0`).
  public var frameRate: Double?
  /// How the samples lie in each frame.
  public var sampling: Y4MSampling
  /// Samples go from 0 to the top (JPEG) instead of 16…235.
  public var isFullRange: Bool
  /// Each picture holds two moments; it is shown as it is.
  public var isInterlaced: Bool
  /// Pixels are not square; they are shown as if they were.
  public var hasOddPixels: Bool

  /// Longer lines are refused: nothing sensible needs so many comments.
  public static let longestLine = 4_096
  static let magic = Array("YUV4MPEG2".utf8)

  /// - Parameter line: without its line feed.
  public init(parsing line: Span<UInt8>) throws(Y4MError) {
    var fields = Y4MFields(line)
    guard fields.first == Self.magic[...] else { throw .notYUV4MPEG2 }
    size = try Self.size(width: fields.take("W"), height: fields.take("H"))
    frameRate = try Self.frameRate(fields.take("F"))
    let comments = fields.takeComments()
    let colours = fields.take("C") ?? comments.first { $0.hasPrefix("YSCSS=") }.map { String($0.dropFirst(6)) }
    sampling = try Y4MSampling(colours?.lowercased() ?? "420jpeg")
    isFullRange = comments.contains("COLORRANGE=FULL")
    switch fields.take("I") ?? "p" {
    case "p", "?": isInterlaced = false
    case "t", "b", "m": isInterlaced = true
    case let value: throw .badField("I", value, expected: "Ip, It, Ib, Im or I?")
    }
    let aspect = fields.take("A") ?? "0:0"
    guard let ratio = Y4MRatio(aspect) else { throw .badField("A", aspect, expected: "a ratio such as A1:1") }
    hasOddPixels = ratio.numerator != ratio.denominator
    // Unknown fields are let pass, as the format says; a field given twice counts once.
  }

  private static func size(width: String?, height: String?) throws(Y4MError) -> PixelSize {
    guard let width else { throw .missingField("W") }
    guard let height else { throw .missingField("H") }
    return PixelSize(width: try side(width, "W"), height: try side(height, "H"))
  }

  private static func side(_ text: String, _ tag: Character) throws(Y4MError) -> Int {
    guard let value = Int(digits: text), (1...8192).contains(value) else {
      throw .badField(tag, text, expected: "a whole number from 1 to 8192")
    }
    return value
  }

  private static func frameRate(_ text: String?) throws(Y4MError) -> Double? {
    guard let text else { return nil }
    let expected = "a rate such as F30000:1001, from 0.01 to 1000 frames a second"
    guard let ratio = Y4MRatio(text) else { throw .badField("F", text, expected: expected) }
    if ratio.numerator == 0 { return nil }
    let rate = Double(ratio.numerator) / Double(ratio.denominator)
    guard (0.01...1000).contains(rate) else { throw .badField("F", text, expected: expected) }
    return rate
  }
}

/// Why a stream is not taken for YUV4MPEG2.
public enum Y4MError: Error, Hashable, Sendable {
  /// The input does not begin with YUV4MPEG2.
  case notYUV4MPEG2
  /// A tag that every header has is not there: W, H or F.
  case missingField(Character)
  /// The field's letter, its value (shortened), and the allowed values.
  case badField(Character, String, expected: String)
  /// A sampling that exists but is not taken, or is unknown.
  case unsupportedSampling(String)
  /// No line feed within `Y4MHeader.longestLine` bytes.
  case lineTooLong

  /// For the person who runs the cast.
  public var sentence: String {
    switch self {
    case .notYUV4MPEG2:
      "The input is not YUV4MPEG2: it does not begin with that word. Make it so, as `ffmpeg -i … -f yuv4mpegpipe -` does, "
        + "or say what raw pictures it holds by --raw-format and --raw-size."
    case .missingField(let tag):
      "The YUV4MPEG2 header has no \(tag == "W" ? "width (W)" : "height (H)"); the program that writes it must say it."
    case .badField(let tag, let value, let expected):
      "The YUV4MPEG2 header's field \(tag) is '\(value)', but must be \(expected)."
    case .unsupportedSampling(let name):
      "YUV4MPEG2 with sampling C\(name) is not taken; 420, 422, 444 and mono are, 8 to 16 bits deep. "
        + "ffmpeg converts by -pix_fmt yuv420p."
    case .lineTooLong:
      "The YUV4MPEG2 header does not end within \(Y4MHeader.longestLine) bytes; the input is damaged or something else."
    }
  }
}

/// The blank-separated fields of a header line, taken by their letter.
private struct Y4MFields {
  let first: ArraySlice<UInt8>
  private var fields: [ArraySlice<UInt8>]

  init(_ line: Span<UInt8>) {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(min(line.count, Y4MHeader.longestLine))
    for index in 0..<min(line.count, Y4MHeader.longestLine) { bytes.append(line[index]) }
    let parts = bytes.split(separator: 0x20)
    first = parts.first ?? []
    fields = Array(parts.dropFirst())
  }

  /// The value behind the letter, printable and short; the first field counts. Further fields of the letter are
  /// removed.
  mutating func take(_ tag: Character) -> String? {
    let letter = tag.asciiValue
    let found = fields.first { $0.first == letter }
    fields.removeAll { $0.first == letter }
    return found.map { Self.text($0.dropFirst()) }
  }

  /// The values of all X fields.
  mutating func takeComments() -> [String] {
    defer { fields.removeAll { $0.first == 0x58 } }
    return fields.filter { $0.first == 0x58 }.map { Self.text($0.dropFirst()) }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(String.UnicodeScalarView(bytes.prefix(40).map { Unicode.Scalar((0x21...0x7E).contains($0) ? $0 : 0x3F) }))
  }
}

/// `numerator:denominator`; 0:0 says "unknown", and so does 0 to anything.
private struct Y4MRatio {
  var numerator: Int
  var denominator: Int

  init?(_ text: String) {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let numerator = Int(digits: parts[0]), let denominator = Int(digits: parts[1]),
      denominator > 0 || numerator == 0
    else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }
}

extension Int {
  /// One to ten decimal digits and nothing else: no sign, no overflow.
  init?(digits text: some StringProtocol) {
    guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    self.init(text)
  }
}
