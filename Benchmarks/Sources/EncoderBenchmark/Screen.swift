import Glibc
import RTCMedia

/// A desktop of 1920x1080 with a page of text in it, as BGRA; the page can scroll, letters can be typed, all can
/// change.
@MainActor
struct Screen {
  static let size = PixelSize(width: 1920, height: 1080)
  static let area = size.width * size.height
  /// Where the page lies.
  static let page = PixelRect(x: 40, y: 110, width: 1180, height: 900)

  /// The pixels that the screen shows now.
  let pixels = Screen.memory(Screen.area)
  /// The pixels of the last captured picture.
  let captured = Screen.memory(Screen.area)
  /// The pages that fill all of it, by name.
  private(set) var wholePages: [(name: String, pixels: UnsafeMutablePointer<UInt32>)] = []
  private let tallPage: UnsafeMutablePointer<UInt32>
  private let tallRows: Int

  /// - Parameter folder: has `base.bgra` (the desktop) and `page.bgra` (1180 pixels wide, at least 900 high, what scrolls)
  ///   and may have `white.bgra`, `dark.bgra` and `colour.bgra` (1920x1080); nil: pages of strokes are drawn.
  init(folder: String?) {
    if let folder {
      let tall = Self.read(folder + "/page.bgra")!
      (tallPage, tallRows) = (tall.pixels, tall.count / Self.page.width)
      for name in ["base", "white", "dark", "colour"] {
        if let whole = Self.read(folder + "/\(name).bgra") { wholePages.append((name, whole.pixels)) }
      }
    } else {
      tallRows = 5400
      tallPage = Self.memory(Self.page.width * tallRows)
      Self.write(tallPage, width: Self.page.width, height: tallRows, seed: 3, density: 8)
      for (name, density) in [("sparse", 2), ("full", 8)] {
        let whole = Self.memory(Self.area)
        Self.write(whole, width: Self.size.width, height: Self.size.height, seed: 7, density: density)
        wholePages.append((name, whole))
      }
    }
    show(wholePage: 0)
  }

  func show(wholePage index: Int) {
    pixels.update(from: wholePages[index].pixels, count: Self.area)
  }

  /// Where a counter changes with each step of the page.
  static let counter = PixelRect(x: 16, y: 16, width: 512, height: 32)

  /// Shows the page from `row` on, and the counter.
  func scroll(to row: Int) {
    for y in Self.counter.y..<Self.counter.maxY {
      for x in 0..<Self.counter.width {
        let isSet = row * 2_654_435_761 >> (x / 16 + (y - Self.counter.y) / 16) & 1 == 1
        pixels[y * Self.size.width + Self.counter.x + x] = isSet ? 0xffffff : 0
      }
    }
    for y in 0..<Self.page.height {
      let target = pixels + (Self.page.y + y) * Self.size.width + Self.page.x
      target.update(from: tallPage + (row + y) % tallRows * Self.page.width, count: Self.page.width)
    }
  }

  /// Writes one letter's worth of strokes; returns where.
  func type(_ number: Int) -> PixelRect {
    let rect = PixelRect(x: 1300 + number % 60 * 9, y: 200 + number / 60 * 18, width: 9, height: 16)
    for y in 2..<14 { for x in [1, 4 + number % 4] { pixels[(rect.y + y) * Self.size.width + rect.x + x] = 0xd0d0d0 } }
    return rect
  }

  /// Shows picture `number` of a film: waves that move, and grain; returns where.
  func film(_ number: Int) -> PixelRect {
    let rect = Self.filmArea
    func wave(_ count: Int, _ length: Double, _ shift: Double, _ height: Double) -> [Int] {
      (0..<count).map { Int(height * sin((Double($0) + Double(number) * shift) / length)) }
    }
    let (across, fine) = (wave(rect.width, 37, 4, 50), wave(rect.width, 6, -3, 20))
    let (down, slow) = (wave(rect.height, 23, 2.5, 30), wave(rect.height, 90, 1, 20))
    var state = UInt32(truncatingIfNeeded: number) &* 2_654_435_761 | 1
    for y in 0..<rect.height {
      let line = pixels + (rect.y + y) * Self.size.width + rect.x
      for x in 0..<rect.width {
        state ^= state << 13
        state ^= state >> 17
        state ^= state << 5
        let level = 128 + across[x] + fine[x] * down[y] / 30 + down[y] + Int(state & 31) - 16
        let (red, green) = (max(0, min(255, level + slow[y])), max(0, min(255, level)))
        line[x] = UInt32(red << 16 | green << 8 | max(0, min(255, level - slow[y])))
      }
    }
    return rect
  }

  /// Where the film plays.
  static let filmArea = PixelRect(x: 1250, y: 560, width: 640, height: 360)

  /// Draws step `number` of thin lines that turn on white in the place of the page; returns where.
  func turnLines(_ number: Int) -> PixelRect {
    let rect = Self.page
    fill(rect, 0xffffff)
    for index in 0..<36 {
      let angle = Double(number) / 40 * (1 + Double(index % 5) / 5) + Double(index) * 0.7
      let (x, y) = (rect.x + 60 + index % 9 * 125, rect.y + 90 + index / 9 * 220)
      let ink = [UInt32(0x20_2020), 0xcc_0000, 0x00_60d0, 0x00_8000][index % 4]
      for step in stride(from: -85.0, to: 85, by: 0.5) {
        let (px, py) = (x + Int(cos(angle) * step), y + Int(sin(angle) * step))
        guard px > rect.x, px < rect.maxX - 1, py > rect.y, py < rect.maxY - 1 else { continue }
        pixels[py * Self.size.width + px] = ink
        pixels[py * Self.size.width + px + 1] = ink
      }
    }
    return rect
  }

  /// Shows slide `number` in the place of the page: some lines of letters, and bars; returns where.
  func showSlide(_ number: Int) -> PixelRect {
    let rect = Self.page
    let (ground, ink) = [(UInt32(0xffffff), UInt32(0x202020)), (0x10_3a5c, 0xffffff), (0xfd_f6e3, 0x58_6e75)][
      number % 3]
    fill(rect, ground)
    for line in 0..<14 {
      // Letters of a page, in the slide's colours.
      for y in 0..<17 {
        for x in 0..<(500 + (number * 7 + line * 131) % 500) {
          let shade = tallPage[((number * 14 + line) * 17 + 4 + y) % tallRows * rect.width + x] & 255
          let target = (rect.y + 60 + line * 30 + y) * Self.size.width + rect.x + 60 + x
          if shade < 128 { pixels[target] = ink }
        }
      }
    }
    for bar in 0..<8 {
      let tall = 40 + (number * 97 + bar * 61) % 320
      fill(
        PixelRect(x: rect.x + 100 + bar * 120, y: rect.maxY - 60 - tall, width: 80, height: tall),
        [0xd0_0000, 0x00_60d0, 0x00_a040, 0xf0_a000][bar % 4])
    }
    return rect
  }

  /// Changes the counter; returns where.
  func count(_ number: Int) -> PixelRect {
    for y in Self.counter.y..<Self.counter.maxY {
      for x in 0..<Self.counter.width {
        let isSet = number &* 2_654_435_761 >> (x / 16 + (y - Self.counter.y) / 16) & 1 == 1
        pixels[y * Self.size.width + Self.counter.x + x] = isSet ? 0xffffff : 0
      }
    }
    return Self.counter
  }

  private func fill(_ rect: PixelRect, _ colour: UInt32) {
    for y in rect.y..<rect.maxY {
      (pixels + y * Self.size.width + rect.x).update(repeating: colour, count: rect.width)
    }
  }

  func frame(damage: [PixelRect]?, at time: Timestamp) -> VideoFrame {
    captured.update(from: pixels, count: Self.area)
    let buffer = PixelBuffer(
      format: .bgra, size: Self.size, planes: [(UnsafeRawPointer(captured), Self.size.width * 4)], release: {})!
    return VideoFrame(buffer: buffer, captureTime: time, damage: damage, colorSpace: .sRGB)
  }

  private static func memory(_ count: Int) -> UnsafeMutablePointer<UInt32> {
    let memory = UnsafeMutablePointer<UInt32>.allocate(capacity: count)
    memory.initialize(repeating: 0xffffff, count: count)
    return memory
  }

  private static func read(_ path: String) -> (pixels: UnsafeMutablePointer<UInt32>, count: Int)? {
    guard let file = fopen(path, "rb") else { return nil }
    defer { fclose(file) }
    fseek(file, 0, SEEK_END)
    let count = ftell(file) / 4
    rewind(file)
    let pixels = memory(count)
    return fread(pixels, 4, count, file) == count ? (pixels, count) : nil
  }

  /// Small dark strokes on white; `density` of eight places in a line hold a letter.
  private static func write(
    _ pixels: UnsafeMutablePointer<UInt32>, width: Int, height: Int, seed: UInt64, density: Int
  ) {
    var state = seed &* 0x9E37_79B9_7F4A_7C15 | 1
    func random(_ bound: Int) -> Int {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      return Int(state % UInt64(bound))
    }
    for top in stride(from: 4, to: height - 12, by: 17) {
      for left in stride(from: 8, to: width * density / 8 - 16, by: 8) where random(7) > 0 {
        for _ in 0..<3 {
          let ink = UInt32(30 + random(60)) * 0x01_0101
          let (x, y, isUpright) = (left + random(6), top + random(11), random(2) == 0)
          for step in 0..<(isUpright ? 11 : 6) {
            pixels[(isUpright ? top + step : y) * width + (isUpright ? x : left + step)] = ink
          }
        }
      }
    }
  }
}
