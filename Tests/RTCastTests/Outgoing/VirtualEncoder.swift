import RTCCodecVPX
import RTCMedia
import RTCPrimitives
import RTCast
import Testing

/// A desktop of rectangles, as BGRA.
struct Desktop {
  var size: PixelSize
  private var pixels: [UInt8]

  init(size: PixelSize) {
    self.size = size
    pixels = Array(repeating: 230, count: size.width * size.height)
    for index in 0..<size.width * size.height where index * 2_654_435_761 >> 7 & 3 == 0 && index / size.width % 12 < 8 {
      pixels[index] = 30
    }
  }

  mutating func draw(_ rect: PixelRect, _ value: UInt8) {
    for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { pixels[y * size.width + x] = value } }
  }

  /// Shows a window of letters that stands elsewhere, and has others, from step to step, on plain ground.
  mutating func moveWindow(_ step: Int) {
    draw(PixelRect(size), 230)
    let (left, top) = (step * 397 % (size.width - 400), step * 211 % (size.height - 400))
    for y in top..<top + 400 where (y + step) % 12 < 8 {
      for x in left..<left + 400 where (x * 7919 + y * 104_729 + step * 31) * 2_654_435_761 >> 9 & 7 == 0 {
        pixels[y * size.width + x] = 30
      }
    }
  }

  func frame(damage: [PixelRect]?, at time: Timestamp) throws -> VideoFrame {
    let buffer = try #require(
      PixelBuffer.allocate(format: .bgra, size: size) { _, bytes, stride in
        for y in 0..<size.height {
          for x in 0..<size.width {
            for channel in 0..<3 { bytes[y * stride + x * 4 + channel] = pixels[y * size.width + x] }
          }
        }
      })
    return VideoFrame(buffer: buffer, captureTime: time, damage: damage, colorSpace: .sRGB)
  }

  /// Luma likeness of a decoded picture: the largest mean square error of any 16×16 block, and of all.
  func meanSquareError(_ decoded: PixelBuffer) -> Double {
    let stride = decoded.stride(ofPlane: 0)
    let bytes = decoded.bytes(ofPlane: 0)
    var sum = 0.0
    for y in 0..<size.height {
      for x in 0..<size.width {
        let luma = 16 + Double(pixels[y * size.width + x]) * 219 / 255
        let difference = Double(bytes[y * stride + x]) - luma
        sum += difference * difference
      }
    }
    return sum / Double(size.width * size.height)
  }
}

/// The work of one encoder's stage on virtual time, with a real encoder and a real decoder.
final class VirtualEncoder {
  /// Moves only when told.
  var now = Timestamp.zero
  let decoder: VP8Decoder
  private var stage: EncodeStage
  var frames: [EncodedFrame] = []
  var shown: PixelBuffer?

  init(_ settings: EncodingSettings = EncodingSettings(startBitrate: .megabitsPerSecond(2))) throws {
    decoder = try VP8Decoder()
    stage = EncodeStage(
      settings: settings, makeEncoder: { settings throws(VideoEncoderError) in try VP8Encoder(settings) })
  }

  var deadline: Timestamp? { stage.nextDeadline(now: now) }
  var statistics: EncodingStatistics { stage.statistics }

  func apply(_ controls: EncoderControls) { stage.apply(controls) }

  func consume(_ frame: VideoFrame) throws {
    stage.take(frame, now: now)
    try show(stage.encode(now: now))
  }

  /// Serves whenever the stage asks for it, until `length` has passed; returns how many frames came of it.
  func rest(_ length: TimeDelta) throws -> Int {
    let end = now + length
    let before = frames.count
    var turns = 0
    while let deadline, deadline <= end, turns < 10_000 {
      turns += 1
      now = max(now, deadline)
      try show(stage.serve(now: now))
    }
    #expect(turns < 10_000)
    now = end
    return frames.count - before
  }

  private func show(_ frame: EncodedFrame?) throws {
    guard let frame else { return }
    frames.append(frame)
    shown = try decoder.decode(frame.data)
  }
}
