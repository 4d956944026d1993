import RTCMedia
import RTCPage
import RTCPrimitives
import Testing

@Suite struct `Messages about the pointer` {
  @Test func `who draws it is said with the frame and the size of the picture`() {
    let size = PixelSize(width: 1_920, height: 1_080)
    #expect(
      CursorMessage.drawing(RTPTimestamp(0x0102_0304), byViewer: true, isSettled: false, size)
        == [1, 1, 2, 3, 4, 1, 7, 128, 4, 56])
    #expect(CursorMessage.drawing(RTPTimestamp(5), byViewer: false, isSettled: true, size)[5] == 2)
  }

  @Test func `an image is told in colours that are not multiplied by alpha`() {
    let image = CursorImage(
      size: PixelSize(width: 3, height: 1), hotX: 1, hotY: 0, pixels: [0xff10_2030, 0x8040_0080, 0x00ff_ffff])
    #expect(
      CursorMessage.image(0x0102_0304_0506_0708, image)
        == [2, 1, 2, 3, 4, 5, 6, 7, 8, 0, 3, 0, 1, 0, 1, 0, 0]
        + [0x10, 0x20, 0x30, 0xff, 128, 0, 255, 0x80, 0, 0, 0, 0])
  }

  @Test func `a position may lie beside the picture`() {
    #expect(CursorMessage.position(258, CursorPosition(x: -2, y: 300)) == [4, 0, 0, 1, 2, 1, 255, 254, 1, 44])
    #expect(CursorMessage.position(1, nil) == [4, 0, 0, 0, 1, 0, 0, 0, 0, 0])
    #expect(CursorMessage.position(1, CursorPosition(x: 70_000, y: -70_000)).suffix(4) == [127, 255, 128, 0])
  }

  @Test func `an image is told from others by its pixels, its size and where it points`() {
    let image = CursorImage(size: PixelSize(width: 2, height: 1), hotX: 0, hotY: 0, pixels: [1, 2])
    var others = [image, image, image]
    others[0].pixels[1] = 3
    others[1].hotX = 1
    others[2].size = PixelSize(width: 1, height: 2)
    #expect(Set((others + [image]).map(\.digest)).count == 4)
  }

  @Test(arguments: CursorPlace.allCases) func `what a viewer says is understood`(_ place: CursorPlace) {
    #expect(CursorViewerMessage(parsing: CursorViewerMessage.ready(place).bytes.span) == .ready(place))
  }

  @Test func `whatever else comes is refused, and nothing breaks`() {
    #expect(CursorViewerMessage(parsing: [1, 2, 1].span) == nil, "another version")
    #expect(CursorViewerMessage(parsing: [1, 1, 3].span) == nil, "a place that is none")
    #expect(CursorViewerMessage(parsing: [1, 1, 1, 0].span) == nil, "more than there should be")
    var random = SeededGenerator(seed: 3)
    for _ in 0..<50_000 {
      let bytes = (0..<Int.random(in: 0...5, using: &random)).map { _ in UInt8.random(in: 0...3, using: &random) }
      guard let message = CursorViewerMessage(parsing: bytes.span) else { continue }
      #expect(message.bytes == bytes)
    }
  }
}
