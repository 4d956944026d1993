import RTCMedia
import RTCPrimitives
import Testing

@Suite struct ScrollingPictureTests {
  /// The last row and column of macroblocks are cut.
  private let size = PixelSize(width: 648, height: 374)

  private func restedLoop(_ document: Document, _ rate: BitRate = .megabitsPerSecond(4)) throws -> Loop {
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: rate))
    document.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    _ = try loop.rest(for: .seconds(Int64(60)))
    return loop
  }

  @Test(arguments: [2, -6, 16, 40, -120, 200])
  func `a page that scrolled is moved by a small frame, as sharp as it was`(lines: Int) throws {
    var document = Document(size: size)
    var loop = try restedLoop(document)
    document.scroll(by: lines)
    document.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: [document.window]))
    #expect(!frame.isKeyFrame)
    #expect(frame.data.count < 3_200 + abs(lines) * 300)
    // Whole macroblocks of what was in view before and is still.
    let window = document.window
    let kept = PixelRect(
      x: window.x, y: window.y + max(0, -lines) + 16, width: window.width, height: window.height - abs(lines) - 32)
    #expect(document.psnr(try #require(loop.shown), in: kept).luma >= 42)
  }

  @Test func `what a scroll brings into view comes with it`() throws {
    var document = Document(size: size)
    var loop = try restedLoop(document)
    document.scroll(by: 30)
    document.draw(into: loop.encoder.picture)
    _ = try #require(try loop.encode(changed: [document.window]))
    #expect(document.psnr(try #require(loop.shown)).luma >= 34)
  }

  /// Viewers would drift away from what the encoder believes they have if a single sample were moved differently.
  @Test(arguments: [BitRate.kilobitsPerSecond(300), .megabitsPerSecond(4)])
  func `after many scrolls viewers have the picture, colours too`(rate: BitRate) throws {
    var document = Document(size: size)
    var loop = try restedLoop(document, rate)
    var (moves, state) = (0, UInt32(7))
    for _ in 0..<120 {
      state = state &* 1_664_525 &+ 1_013_904_223
      document.scroll(by: Int(state >> 16) % 61 - 24)
      document.draw(into: loop.encoder.picture)
      loop.now += .milliseconds(33)
      if let frame = try loop.encode(changed: [document.window]), frame.data.count < 8_000 { moves += 1 }
    }
    #expect(moves > 20)
    _ = try loop.rest(for: .seconds(Int64(60)))
    let (luma, chroma) = document.psnr(try #require(loop.shown))
    #expect(luma >= 42)
    #expect(chroma >= 38)
  }

  @Test func `what was said to have changed and has not costs nothing`() throws {
    var document = Document(size: size)
    var loop = try restedLoop(document)
    loop.now += .seconds(Int64(1))
    #expect(try loop.encode(changed: nil) == nil)
    document.change(PixelRect(x: 330, y: 200, width: 8, height: 12))
    document.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: nil))
    #expect(frame.data.count < 500)
  }

  /// A column and a row of macroblocks are cut in the middle of a pair of samples, and lines are any number of bytes apart.
  @Test(arguments: [PixelSize(width: 651, height: 391), PixelSize(width: 663, height: 401)])
  func `odd sizes and strides scroll as sharply`(size: PixelSize) throws {
    var page = Page(size: size)
    var loop = try Loop(VideoEncoderSettings(size: size, targetBitrate: .megabitsPerSecond(4)))
    _ = try loop.encode(frame(of: page, gap: 3))
    _ = try loop.rest(for: .seconds(Int64(60)))
    for (step, lines) in [7, 12, 1, 30, 15].enumerated() {
      page.scroll(by: lines, seed: UInt64(step) + 5)
      loop.now += .milliseconds(200)
      let coded = try #require(try loop.encode(frame(of: page, gap: step * 5)))
      #expect(coded.data.count < 12_000)
      // What was in view before: new letters come in at the bottom.
      let kept = PixelRect(x: 0, y: 0, width: size.width, height: size.height - lines - 52)
      #expect(page.psnr(try #require(loop.shown), in: kept) >= 42)
    }
  }

  /// A grey frame of `page`, its lines `gap` bytes apart, which hold anything.
  private func frame(of page: Page, gap: Int) -> VideoFrame {
    let (size, half) = (page.size, ((page.size.width + 1) / 2, (page.size.height + 1) / 2))
    let luma = (size.width + gap) * size.height
    let colour = (half.0 + gap) * half.1
    let bytes = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: luma + 2 * colour)
    for index in bytes.indices { bytes[index] = index < luma ? UInt8(index % 251) : 128 }
    for y in 0..<size.height {
      for x in 0..<size.width { bytes[y * (size.width + gap) + x] = page.luma[y * size.width + x] }
    }
    let base = bytes.baseAddress!
    nonisolated(unsafe) let memory = bytes
    let planes = [
      (UnsafeRawPointer(base), size.width + gap), (UnsafeRawPointer(base + luma), half.0 + gap),
      (UnsafeRawPointer(base + luma + colour), half.0 + gap),
    ]
    let buffer = PixelBuffer(format: .i420, size: size, planes: planes, release: { memory.deallocate() })!
    return VideoFrame(buffer: buffer, captureTime: .zero, colorSpace: .bt601Limited)
  }

  @Test func `a film is not searched for scrolls`() throws {
    var document = Document(size: size)
    var loop = try Loop(
      VideoEncoderSettings(size: size, contentHint: .motion, targetBitrate: .megabitsPerSecond(4)))
    document.draw(into: loop.encoder.picture)
    _ = try loop.encode(changed: nil)
    loop.now += .seconds(Int64(1))
    document.scroll(by: 32)
    document.draw(into: loop.encoder.picture)
    let frame = try #require(try loop.encode(changed: [document.window]))
    // libvpx finds as much, at another quality.
    #expect(frame.data.count > 1_000)
  }
}

/// A coloured text that scrolls in a window with a frame around it.
private struct Document {
  let size: PixelSize
  /// Where it is seen.
  let window: PixelRect
  private let height = 1400
  private var top = 600
  /// Luma and two colours, each `height` lines of the window's width.
  private var text: [[UInt8]]
  private var changes: [PixelRect] = []

  init(size: PixelSize) {
    self.size = size
    window = PixelRect(x: 20, y: 26, width: 600, height: 330)
    let count = window.width * height
    text = [235, 128, 128].map { Array(repeating: $0, count: count) }
    var state: UInt64 = 88_172_645_463_325_252
    func random(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
    for line in stride(from: 4, to: height - 14, by: 18) {
      let colours = random(3) == 0 ? (UInt8(90 + random(80)), UInt8(90 + random(80))) : (128, 128)
      for left in stride(from: 4, to: window.width - 8, by: 9) where random(7) > 0 {
        for _ in 0..<3 {
          let (x, y, isUpright) = (left + random(6), line + random(11), random(2) == 0)
          for step in 0..<(isUpright ? 11 : 7) {
            let index = (isUpright ? line + step : y) * window.width + (isUpright ? x : left + step)
            (text[0][index], text[1][index], text[2][index]) = (60, colours.0, colours.1)
          }
        }
      }
    }
  }

  mutating func scroll(by lines: Int) { top = max(0, min(height - window.height, top + lines)) }

  mutating func change(_ rect: PixelRect) { changes.append(rect) }

  /// The samples of the whole screen, without subsampling.
  private func plane(_ index: Int) -> [UInt8] {
    var all = [UInt8](repeating: index == 0 ? 180 : 120, count: size.width * size.height)
    for y in 0..<window.height {
      let from = (top + y) * window.width
      let to = (window.y + y) * size.width + window.x
      all.replaceSubrange(to..<to + window.width, with: text[index][from..<from + window.width])
    }
    for rect in changes where index == 0 {
      for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { all[y * size.width + x] = 30 } }
    }
    return all
  }

  /// As encoders read it: colours in the mean of four.
  private func samples(_ index: Int) -> (all: [UInt8], width: Int, height: Int) {
    let all = plane(index)
    guard index > 0 else { return (all, size.width, size.height) }
    let (width, height) = (size.width / 2, size.height / 2)
    var half = [UInt8](repeating: 0, count: width * height)
    for y in 0..<height {
      for x in 0..<width {
        let first = 2 * y * size.width + 2 * x
        let sum =
          Int(all[first]) + Int(all[first + 1]) + Int(all[first + size.width]) + Int(all[first + size.width + 1])
        half[y * width + x] = UInt8((sum + 2) / 4)
      }
    }
    return (half, width, height)
  }

  func draw(into picture: InputPicture) {
    for index in 0..<3 {
      let (all, width, height) = samples(index)
      let stride = picture.stride(ofPlane: index)
      picture.withMutablePlane(index) { bytes in
        for y in 0..<height { for x in 0..<width { bytes[y * stride + x] = all[y * width + x] } }
      }
    }
  }

  /// Likeness to a decoded picture in dB, within `rect` of luma and everywhere of the worse colour.
  func psnr(_ decoded: PixelBuffer, in rect: PixelRect? = nil) -> (luma: Double, chroma: Double) {
    let ratios = (0..<3).map { index in
      let (all, width, height) = samples(index)
      let area = index == 0 ? rect ?? PixelRect(size) : PixelRect(x: 0, y: 0, width: width, height: height)
      let (bytes, stride) = (decoded.bytes(ofPlane: index), decoded.stride(ofPlane: index))
      var sum = 0
      for y in area.y..<area.maxY {
        for x in area.x..<area.maxX {
          let difference = Int(bytes[y * stride + x]) - Int(all[y * width + x])
          sum += difference * difference
        }
      }
      return Page.decibels(meanSquare: Double(max(1, sum)) / Double(area.area))
    }
    return (ratios[0], min(ratios[1], ratios[2]))
  }
}
