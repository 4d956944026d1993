import FeatureKit
import RTCMedia
import RTCWindow
import Testing

@Suite struct GridLayoutTests {
  private let window = PixelSize(width: 1280, height: 720)
  private let wide = PixelSize(width: 640, height: 360)
  private let tall = PixelSize(width: 360, height: 640)

  @Test func `one video has the window to itself`() {
    #expect(GridLayout.cells(for: [wide], in: window) == [PixelRect(window)])
  }

  @Test(.feature("S3.18")) func `a row wraps after the third video`() {
    let cells = GridLayout.cells(for: Array(repeating: tall, count: 7), in: window)
    #expect(cells.count == 7)
    #expect(Set(cells.map(\.y)) == [0, 240, 480])
    #expect(cells[2].x == 853)
    #expect(cells[3].x == 0)
    // A single one in the last row stands in the middle.
    #expect(cells[6].x == 426)
  }

  @Test func `columns are chosen for the largest pictures: tall ones stand side by side, wide ones in a square`() {
    #expect(Set(GridLayout.cells(for: [tall, tall, tall], in: window).map(\.y)) == [0])
    #expect(Set(GridLayout.cells(for: [wide, wide, wide, wide], in: window).map(\.x)) == [0, 640])
    let column = PixelSize(width: 400, height: 1200)
    #expect(Set(GridLayout.cells(for: [wide, wide, nil], in: column).map(\.x)) == [0])
  }

  @Test func `a screen has the room and faces a strip, at the side of a wide window, at the foot of a tall one`() {
    let pictures: [(size: PixelSize?, isScreen: Bool)] = [(wide, false), (wide, true), (nil, false)]
    #expect(
      GridLayout.cells(for: pictures, in: window) == [
        PixelRect(x: 1024, y: 0, width: 256, height: 360), PixelRect(x: 0, y: 0, width: 1024, height: 720),
        PixelRect(x: 1024, y: 360, width: 256, height: 360),
      ])
    #expect(
      GridLayout.cells(for: pictures, in: PixelSize(width: 720, height: 1280)) == [
        PixelRect(x: 0, y: 1024, width: 360, height: 256), PixelRect(x: 0, y: 0, width: 720, height: 1024),
        PixelRect(x: 360, y: 1024, width: 360, height: 256),
      ])
    let screens: [(size: PixelSize?, isScreen: Bool)] = [(wide, true), (wide, true)]
    #expect(GridLayout.cells(for: screens, in: window) == GridLayout.cells(for: [wide, wide], in: window))
  }

  @Test(arguments: 0..<50) func `cells of up to 49 videos cover no pixel twice and stay in the window`(count: Int) {
    let size = PixelSize(width: 641, height: 479)
    let cells = GridLayout.cells(for: Array(repeating: wide, count: count), in: size)
    #expect(cells.count == count)
    for (index, cell) in cells.enumerated() {
      #expect(cell.intersection(PixelRect(size)) == cell)
      for other in cells[..<index] { #expect(cell.intersection(other).isEmpty) }
    }
  }

  @Test func `a picture fills its cell one way and is centred the other, at any size`() {
    let cell = PixelRect(x: 10, y: 20, width: 100, height: 100)
    #expect(GridLayout.fit(wide, into: cell) == PixelRect(x: 10, y: 42, width: 100, height: 56))
    #expect(GridLayout.fit(tall, into: cell) == PixelRect(x: 32, y: 20, width: 56, height: 100))
    #expect(GridLayout.fit(PixelSize(width: 1, height: 16384), into: cell).width == 1)
    #expect(GridLayout.fit(wide, into: PixelRect(x: 0, y: 0, width: 0, height: 9)).isEmpty)
  }
}
