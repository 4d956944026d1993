import RTCPage
import RTCPrimitives
import Testing

@Suite struct `Messages about exact pixels` {
  @Test func `a begin says the size`() {
    #expect(
      ExactMessage.begin(RTPTimestamp(0x0102_0304), PixelSize(width: 1_920, height: 1_080))
        == [1, 1, 2, 3, 4, 7, 128, 4, 56])
  }

  @Test func `a void lists rectangles of blocks`() {
    #expect(
      ExactMessage.void(RTPTimestamp(5), [BlockRect(column: 1, row: 258, width: 3, height: 4)])
        == [2, 0, 0, 0, 5, 0, 1, 0, 1, 1, 2, 0, 3, 0, 4])
  }

  @Test func `a rectangle carries its file`() {
    #expect(
      ExactMessage.rectangle(
        RTPTimestamp(5), number: 7, PixelRect(x: 16, y: 32, width: 48, height: 64), webP: [82, 73])
        == [3, 0, 0, 0, 5, 0, 0, 0, 7, 0, 16, 0, 32, 0, 48, 0, 64, 82, 73])
  }

  @Test func `a snapshot lists the blocks for which it does not hold`() {
    #expect(
      ExactMessage.snapshot(RTPTimestamp(5), changed: [BlockRect(column: 1, row: 2, width: 3, height: 4)])
        == [4, 0, 0, 0, 5, 0, 1, 0, 1, 0, 2, 0, 3, 0, 4])
  }

  @Test func `cells are named by runs of them and of slots`() {
    let runs = [
      ExactMessage.CellRun(cell: 1, slot: 258, length: 3), ExactMessage.CellRun(cell: 4, slot: 5, length: 256),
    ]
    #expect(
      ExactMessage.cells(RTPTimestamp(5), PixelSize(width: 128, height: 64)) == [5, 0, 0, 0, 5, 0, 128, 0, 64])
    #expect(
      ExactMessage.keep(RTPTimestamp(5), runs) == [6, 0, 0, 0, 5, 0, 2, 0, 1, 1, 2, 0, 3, 0, 4, 0, 5, 1, 0])
    #expect(
      ExactMessage.recall(RTPTimestamp(5), number: 7, runs)
        == [7, 0, 0, 0, 5, 0, 0, 0, 7, 0, 2, 0, 1, 1, 2, 0, 3, 0, 4, 0, 5, 1, 0])
  }

  @Test func `a move says what is void, what is exact, what is copied and what is new`() {
    var picture = MovedPicture(
      moves: [PictureMove(PixelRect(x: 1, y: 2, width: 3, height: 258), dx: 5, dy: -7)],
      moved: BlockSet(PixelSize(width: 32, height: 32)),
      patches: [PixelRect(x: 9, y: 8, width: 7, height: 6), PixelRect(x: 0, y: 0, width: 1, height: 1)])
    picture.encode { $0.x == 0 ? [3] : [1, 2] }
    let message = ExactMessage.move(
      RTPTimestamp(5), number: 7, voids: [BlockRect(column: 1, row: 2, width: 3, height: 4)],
      blocks: [BlockRect(column: 5, row: 6, width: 7, height: 8)], picture.moves, picture.patches)
    #expect(message[..<17] == [8, 0, 0, 0, 5, 0, 0, 0, 7, 0, 1, 0, 1, 0, 1, 0, 2])
    #expect(message[17..<33] == [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8])
    #expect(message[33..<45] == [0, 1, 0, 2, 0, 3, 1, 2, 0, 5, 255, 249])
    #expect(message[45..<57] == [0, 9, 0, 8, 0, 7, 0, 6, 0, 0, 0, 2])
    #expect(message[57...] == [0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1, 1, 2, 3])
    #expect(ExactMessage.moves(RTPTimestamp(5)) == [9, 0, 0, 0, 5, 0, 1])
  }

  @Test(arguments: [
    ExactViewerMessage.ready(isVisible: true), .ready(isVisible: false), .ready(isVisible: true, snapshot: .max),
    .ready(isVisible: false, snapshot: 0), .acknowledgement(0), .acknowledgement(.max),
    .cache(slots: 0), .cache(slots: 65_535), .missing(7, cells: [0]), .missing(.max, cells: Array(0...255)), .follows,
  ]) func `what a viewer says is understood`(_ message: ExactViewerMessage) {
    #expect(ExactViewerMessage(parsing: message.bytes.span) == message)
  }

  @Test func `whatever else comes is refused, and nothing breaks`() {
    #expect(ExactViewerMessage(parsing: [1, 2, 1].span) == nil, "another version")
    #expect(ExactViewerMessage(parsing: [1, 1, 1, 0].span) == nil, "more than there should be")
    #expect(ExactViewerMessage(parsing: [1, 1, 3, 0, 0, 0].span) == nil, "less")
    #expect(ExactViewerMessage(parsing: [1, 1, 4].span) == nil, "a flag that there is not")
    #expect(ExactViewerMessage(parsing: [4, 0, 0, 0, 1, 0, 0].span) == nil, "no cells")
    #expect(ExactViewerMessage(parsing: [4, 0, 0, 0, 1, 0, 2, 0, 1].span) == nil, "fewer cells than it says")
    let tooMany = [4, 0, 0, 0, 1, 1, 1] + [UInt8](repeating: 0, count: 514)
    #expect(ExactViewerMessage(parsing: tooMany.span) == nil, "257 cells")
    #expect(ExactViewerMessage(parsing: [3, 0].span) == nil)
    #expect(ExactViewerMessage(parsing: [5, 0].span) == nil)
    var random = SeededGenerator(seed: 3)
    for _ in 0..<50_000 {
      let bytes = (0..<Int.random(in: 0...9, using: &random)).map { _ in UInt8.random(in: 0...5, using: &random) }
      guard let message = ExactViewerMessage(parsing: bytes.span) else { continue }
      #expect(message.bytes == bytes)
    }
  }
}
