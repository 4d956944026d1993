import RTCCodecVPX
import RTCMedia
import Testing

@Suite struct `The distance of a scroll` {
  /// Neither side is of whole macroblocks, nor is the width of four equal parts of eight samples.
  private let size = PixelSize(width: 333, height: 215)
  private let whole = PixelRect(x: 0, y: 0, width: 333, height: 215)

  private struct Random {
    var state: UInt64
    mutating func next(_ bound: Int) -> Int {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Int(state >> 33) % bound
    }
  }

  /// Lines of samples, half of them blank, higher than the picture.
  private func document(seed: UInt64, height: Int = 2_000) -> [[UInt8]] {
    var random = Random(state: seed)
    return (0..<height).map { _ in
      let isBlank = random.next(2) == 0
      return (0..<size.width).map { _ in isBlank ? 235 : UInt8(random.next(256)) }
    }
  }

  private func picture(_ lines: ArraySlice<[UInt8]>) -> InputPicture {
    let picture = InputPicture(size: size)
    let stride = picture.stride(ofPlane: 0)
    picture.withMutablePlane(0) { bytes in
      for (y, line) in lines.enumerated() { for x in line.indices { bytes[y * stride + x] = line[x] } }
    }
    return picture
  }

  @Test(arguments: [1, 2, 6, 15, 90, 150, -1, -7, -64, -150]) func `is found`(lines: Int) {
    let document = document(seed: 3)
    let last = LastPicture(size: size)
    last.copy(picture(document[500..<715]))
    #expect(last.scrollDistance(picture(document[500 + lines..<715 + lines]), in: whole) == -lines)
  }

  @Test func `is found beside what changes`() {
    let (document, other) = (document(seed: 3), document(seed: 4))
    let last = LastPicture(size: size)
    last.copy(picture(document[500..<715]))
    let mixed = (0..<215).map { Array(other[$0][..<150] + document[512 + $0][150...]) }
    #expect(last.scrollDistance(picture(mixed[...]), in: whole) == -12)
  }

  @Test func `is nil for what rests, is blank or is new`() {
    let (document, other) = (document(seed: 3), document(seed: 4))
    let blank = Array(repeating: [UInt8](repeating: 235, count: size.width), count: 215)
    let last = LastPicture(size: size)
    last.copy(picture(document[500..<715]))
    for lines in [document[500..<715], other[500..<715], blank[...]] {
      #expect(last.scrollDistance(picture(lines), in: whole) == nil)
    }
    last.copy(picture(blank[...]))
    #expect(last.scrollDistance(picture(blank[...]), in: whole) == nil)
  }

  /// Lines are looked at once for two comparisons, which must not show.
  @Test func `is the same with what is known of the lines from before`() {
    let document = document(seed: 9)
    let rects = [
      whole, PixelRect(x: 16, y: 32, width: 256, height: 160), PixelRect(x: 0, y: 16, width: 333, height: 199),
    ]
    var random = Random(state: 11)
    var (top, found) = (900, 0)
    let last = LastPicture(size: size)
    var copied = picture(document[top..<top + 215])
    last.copy(copied)
    for _ in 0..<200 {
      top = max(0, min(1_785, top + random.next(101) - 50))
      let next = picture(document[top..<top + 215])
      last.beginPicture()
      let rect = rects[random.next(4) % 3]
      let fresh = LastPicture(size: size)
      fresh.copy(copied)
      // Not every picture is searched, not every one is coded, and one of each is not the other.
      if random.next(4) > 0 {
        let distance = last.scrollDistance(next, in: rect)
        #expect(distance == fresh.scrollDistance(next, in: rect))
        if distance != nil { found += 1 }
      }
      if random.next(4) > 0 {
        last.copy(next)
        copied = next
      }
    }
    #expect(found > 80)
  }
}
