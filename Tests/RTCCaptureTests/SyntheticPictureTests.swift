import RTCCapture
import RTCMedia
import Testing

private func picture(
  _ pattern: SyntheticPattern, frame: UInt64, seed: UInt64 = 1, size: PixelSize = PixelSize(width: 321, height: 243),
  over earlier: UInt64? = nil, milliseconds: UInt32 = 42
) -> [UInt32] {
  var pixels = [UInt32](repeating: 0xdead, count: size.width * size.height)
  var canvas = PixelCanvas(size: size, pixels: pixels.mutableSpan)
  if let earlier {
    SyntheticPicture.draw(pattern, frame: earlier, seed: seed, milliseconds: 1, into: &canvas)
    for rect in SyntheticPicture.damage(pattern, from: earlier, to: frame, in: size) ?? [PixelRect(size)] {
      canvas.setClip(rect)
      SyntheticPicture.draw(pattern, frame: frame, seed: seed, milliseconds: milliseconds, into: &canvas)
    }
  } else {
    SyntheticPicture.draw(pattern, frame: frame, seed: seed, milliseconds: milliseconds, into: &canvas)
  }
  return pixels
}

@Suite struct SyntheticPictureTests {
  @Test(arguments: SyntheticPattern.allCases) func `the same arguments draw the same picture`(pattern: SyntheticPattern)
  {
    #expect(picture(pattern, frame: 77) == picture(pattern, frame: 77))
  }

  @Test(arguments: SyntheticPattern.allCases) func `frames differ`(pattern: SyntheticPattern) {
    #expect(picture(pattern, frame: 77) != picture(pattern, frame: 78))
  }

  @Test(arguments: SyntheticPattern.allCases) func `redrawing only the damage gives the whole picture`(
    pattern: SyntheticPattern
  ) {
    for (earlier, frame) in [(0, 1), (59, 60), (100, 137)] as [(UInt64, UInt64)] {
      #expect(picture(pattern, frame: frame, over: earlier) == picture(pattern, frame: frame))
    }
  }

  @Test(arguments: SyntheticPattern.allCases) func `every pixel is drawn at the smallest and at odd sizes`(
    pattern: SyntheticPattern
  ) {
    for size in [
      PixelSize(width: 16, height: 16), PixelSize(width: 17, height: 31), PixelSize(width: 1025, height: 65),
    ] {
      #expect(!picture(pattern, frame: 5, size: size).contains(0xdead))
    }
  }

  @Test func `the seed changes noise`() {
    #expect(picture(.noise, frame: 1, seed: 1) != picture(.noise, frame: 1, seed: 2))
  }

  @Test(arguments: [PixelSize(width: 1920, height: 1080), PixelSize(width: 400, height: 300)])
  func `the clock carries frame number and time`(size: PixelSize) {
    let pixels = picture(.clock, frame: 0x123456, size: size, milliseconds: 0xdeadbeef)
    let cell = FrameBarcode.cellSize(in: size)
    var bits: UInt64 = 0
    for index in 0..<64 {
      let x = cell + index % 32 * cell + cell / 2
      let y = cell + index / 32 * cell + cell / 2
      bits = bits << 1 | (pixels[y * size.width + x] & 0xff > 128 ? 1 : 0)
    }
    #expect(FrameBarcode(bits: bits) == FrameBarcode(frame: 0x123456, milliseconds: 0xdeadbeef))
  }

  @Test func `a damaged barcode is refused`() {
    let bits = FrameBarcode(frame: 5, milliseconds: 6).bits
    #expect(FrameBarcode(bits: bits ^ 1 << 30) == nil)
  }
}
