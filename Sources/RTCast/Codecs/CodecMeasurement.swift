import RTCConvert
import RTCMedia
import RTCNet
import RTCPrimitives

extension CodecRegistry {
  /// Measures every available way to encode with a scrolling page of coloured text, each for at most a fifth of a
  /// second, on this thread. Encoders that fail are left out.
  public func measureCosts() -> CodecCosts {
    var measurement = CodecMeasurement()
    var costs = CodecCosts([])
    for chroma in ChromaSampling.allCases {
      for codec in codecs(with: chroma) {
        guard let time = measurement.cost(of: coded(codec, chroma)) else { continue }
        costs.entries.append(CodecCosts.Entry(codec: codec, chroma: chroma, perMegapixel: time))
      }
    }
    return costs
  }
}

/// Times encoders on a page that is drawn here, so that the result depends on nothing but the machine and its libraries.
private struct CodecMeasurement: ~Copyable {
  private static let size = PixelSize(width: 960, height: 540)
  /// Rows that the page scrolls by.
  private static let step = 18
  private static let mostPictures = 14
  private static let fewestPictures = 3
  /// The number of first frames left out: key frames and the pictures after them take longer.
  private static let warmUp = 3
  private static let time = TimeDelta.milliseconds(100)
  private var converter = FrameConverter()
  /// A page for each step.
  private let pages: [PixelBuffer]

  init() { pages = (0..<Self.mostPictures).map { Self.page(from: $0 * Self.step) } }

  /// For each megapixel, of converting and encoding; the median of several pictures. Nil where the encoder refuses.
  mutating func cost(of coded: CodedFormat) -> TimeDelta? {
    var settings = VideoEncoderSettings(size: Self.size, targetBitrate: .megabitsPerSecond(20), threads: 1)
    settings.chroma = coded.chroma
    var times: [TimeDelta] = []
    do {
      let encoder = try coded.makeEncoder(settings)
      var start = MonotonicClock.now()
      for (number, page) in pages.enumerated() {
        let (begun, time) = (MonotonicClock.now(), Timestamp.zero + .milliseconds(Int64(1_000 + number * 50)))
        let frame = VideoFrame(buffer: page, captureTime: time, colorSpace: .sRGB)
        _ = try converter.convert(frame, rects: nil, into: encoder.picture)
        let coded = try encoder.encode(EncodeJob(changed: nil, keyFrame: number == 0, captureTime: time, now: time))
        let end = MonotonicClock.now()
        guard number >= Self.warmUp else {
          start = end
          continue
        }
        // Frames dropped for lack of rate are not measured.
        if coded != nil { times.append(end - begun) }
        if end - start > Self.time, times.count >= Self.fewestPictures { break }
      }
    } catch {
      return nil
    }
    guard !times.isEmpty else { return nil }
    let median = times.sorted()[times.count / 2]
    return .seconds(median.seconds * 1e6 / Double(Self.size.width * Self.size.height))
  }

  /// Lines of what looks like words in a few colours, from this row of an endless page on.
  private static func page(from top: Int) -> PixelBuffer {
    PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
      for y in 0..<size.height {
        let (line, row) = ((y + top) / step, (y + top) % step)
        for x in 0..<size.width {
          let isInk = isInk(line: line, row: row, column: x)
          let colour = isInk ? inks[(line + x / 160) % inks.count] : (255, 255, 255)
          let place = y * stride + x * 4
          (bytes[place], bytes[place + 1], bytes[place + 2], bytes[place + 3]) = (colour.0, colour.1, colour.2, 255)
        }
      }
    }!  // The size is not empty.
  }

  private static let inks: [(UInt8, UInt8, UInt8)] = [(40, 40, 40), (200, 60, 20), (20, 110, 40), (30, 30, 190)]

  /// Letters 8 pixels wide of four strokes that a hash chooses, one in six a space.
  private static func isInk(line: Int, row: Int, column: Int) -> Bool {
    let (letter, x) = (column / 8, column % 8)
    guard row >= 3, row < 14, x < 7 else { return false }
    var hash = UInt32(truncatingIfNeeded: line &* 7919 &+ letter &* 104_729)
    hash = (hash ^ (hash >> 13)) &* 0x5bd1_e995
    hash ^= hash >> 15
    guard hash % 6 != 0 else { return false }
    let (isUpright, isBar) = (x == Int(hash >> 3 & 3) || x == Int(3 + (hash >> 5 & 3)), row == Int(3 + (hash >> 7 & 7)))
    return isUpright || isBar && x > 0
  }
}
