import RTCMedia
import RTCPage
import RTCPrimitives
import Testing

@Suite struct `What moved between two pictures` {
  private let pane = PixelRect(x: 40, y: 53, width: 530, height: 311)
  private let text = DrawnScreen.Text(seed: 1)

  /// A screen whose pane shows the text from there on.
  private func screen(_ x: Int, _ y: Int, _ text: DrawnScreen.Text? = nil) -> DrawnScreen {
    var screen = DrawnScreen(colour: 0xDD_DDDD)
    screen.draw(DrawnScreen.Text(seed: 9), from: 0, 0, in: PixelRect(x: 0, y: 0, width: 640, height: 30))
    screen.draw(text ?? self.text, from: x, y, in: pane)
    return screen
  }

  private func find(_ old: DrawnScreen, _ new: DrawnScreen) -> MovedPicture? {
    let (a, b) = (old.buffer, new.buffer)
    return MoveFinder.find(from: a, to: b, changed: PictureComparison.changes(from: a, to: b))
  }

  /// Every block that the moves and the patches are said to give is right.
  private func check(_ found: MovedPicture, _ old: DrawnScreen, _ new: DrawnScreen) {
    var made = old
    for move in found.moves { made.paint(move.rect) { old[$0 - move.dx, $1 - move.dy] } }
    expectEqual(made, new, found.moved)
    for patch in found.patches { made.paint(patch.rect) { new[$0, $1] } }
    expectEqual(made, new, found.patched)
    #expect(!found.moved.intersects(found.patched))
  }

  private func expectEqual(_ made: DrawnScreen, _ new: DrawnScreen, _ blocks: BlockSet) {
    let wrong = (0..<new.size.height).contains { y in
      (0..<new.size.width).contains { x in
        blocks.contains(column: x / 16, row: y / 16) && made[x, y] != new[x, y]
      }
    }
    #expect(!wrong)
  }

  /// Whether moves and patches give all that has changed.
  private func givesAll(_ found: MovedPicture, _ old: DrawnScreen, _ new: DrawnScreen) -> Bool {
    var left = PictureComparison.changes(from: old.buffer, to: new.buffer)
    left.subtract(found.moved)
    left.subtract(found.patched)
    return left.isEmpty
  }

  @Test(arguments: 1...120) func `a scroll of any number of lines`(_ lines: Int) throws {
    let from = 1_000 + 37 * lines
    for step in [lines, -lines] {
      let (old, new) = (screen(0, from), screen(0, from + step))
      let found = try #require(find(old, new))
      check(found, old, new)
      #expect(found.moves.map { [$0.dx, $0.dy] } == [[0, -step]])
      #expect(givesAll(found, old, new))
      // The new lines, and the blocks at the edge of the pane.
      #expect(found.patches.reduce(0) { $0 + $1.rect.area } <= pane.width * (lines + 16))
    }
  }

  @Test(arguments: [1, 2, 3, 5, 8, 16, 31, 32, 47, 64, 100, 111]) func `a scroll sideways`(_ columns: Int) throws {
    for step in [columns, -columns] {
      let (old, new) = (screen(500, 90), screen(500 + step, 90))
      let found = try #require(find(old, new))
      check(found, old, new)
      #expect(found.moves.map { [$0.dx, $0.dy] } == [[-step, 0]])
      #expect(givesAll(found, old, new))
    }
  }

  @Test func `two panes that scroll by other distances`() throws {
    func screen(_ left: Int, _ right: Int) -> DrawnScreen {
      var screen = DrawnScreen(colour: 0x33_4455)
      screen.draw(text, from: 0, left, in: PixelRect(x: 8, y: 20, width: 300, height: 350))
      screen.draw(.init(seed: 4), from: 0, right, in: PixelRect(x: 327, y: 20, width: 300, height: 350))
      return screen
    }
    for (left, right) in [(7, -31), (40, 13), (-3, 3)] {
      let (old, new) = (screen(0, 0), screen(left, right))
      let found = try #require(find(old, new))
      check(found, old, new)
      #expect(Set(found.moves.map(\.dy)) == [-left, -right] && givesAll(found, old, new))
    }
  }

  @Test func `typing, a caret and a button that stays, while text scrolls`() throws {
    var (old, new) = (screen(0, 0), screen(0, 21))
    let button = PixelRect(x: 400, y: 300, width: 90, height: 40)
    old.fill(button, 0x11_8811)
    new.fill(button, 0x11_8811)
    new.fill(PixelRect(x: 101, y: 150, width: 2, height: 15), 0)
    new.draw(.init(seed: 77), from: 0, 0, in: PixelRect(x: 50, y: 200, width: 40, height: 18))
    let found = try #require(find(old, new))
    check(found, old, new)
    #expect(found.moves.map(\.dy) == [-21] && givesAll(found, old, new))
  }

  @Test(arguments: [18, 36, 90]) func `text that is repeated`(_ period: Int) {
    let lines = DrawnScreen.Text(seed: 2, period: period)
    for step in [1, 5, 17, 18, 35, 36, 54] {
      let (old, new) = (screen(0, 0, lines), screen(0, step, lines))
      if let found = find(old, new) { check(found, old, new) }
    }
  }

  @Test func `a film beside the text is left alone`() throws {
    var (old, new) = (screen(0, 0), screen(0, 9))
    let film = PixelRect(x: 330, y: 60, width: 200, height: 160)
    var random = SeededGenerator(seed: 5)
    old.paint(film) { _, _ in UInt32.random(in: 0...0xFF_FFFF, using: &random) }
    new.paint(film) { _, _ in UInt32.random(in: 0...0xFF_FFFF, using: &random) }
    let found = try #require(find(old, new))
    check(found, old, new)
    #expect(found.moves.map(\.dy) == [-9])
  }

  @Test func `a small change far from what scrolls is in a patch of its own`() throws {
    var (old, new) = (screen(0, 0), screen(0, 9))
    let clock = PixelRect(x: 600, y: 4, width: 30, height: 12)
    old.fill(clock, 0x11_8811)
    new.fill(clock, 0x88_1188)
    let found = try #require(find(old, new))
    check(found, old, new)
    #expect(found.moves.map(\.dy) == [-9] && givesAll(found, old, new) && found.patches.map(\.rect).contains(clock))
  }

  @Test func `a large change far from what scrolls is left alone`() throws {
    let size = PixelSize(width: 1_300, height: 400)
    func screen(_ y: Int, _ film: UInt64) -> DrawnScreen {
      var screen = DrawnScreen(size)
      screen.draw(text, from: 0, y, in: PixelRect(x: 16, y: 16, width: 300, height: 360))
      screen.draw(.init(seed: film), from: 0, 0, in: PixelRect(x: 600, y: 32, width: 400, height: 336))
      return screen
    }
    let (old, new) = (screen(0, 50), screen(5, 51))
    let found = try #require(find(old, new))
    check(found, old, new)
    #expect(found.moves.map(\.dy) == [-5] && found.patches.allSatisfy { $0.rect.maxX < 500 })
  }

  @Test func `while something moves, a small change alone is in patches`() throws {
    let old = screen(0, 0)
    var new = old
    let changes = [PixelRect(x: 70, y: 80, width: 2, height: 14), PixelRect(x: 600, y: 4, width: 30, height: 12)]
    for rect in changes { new.fill(rect, 0x12_3456) }
    let (a, b) = (old.buffer, new.buffer)
    let changed = PictureComparison.changes(from: a, to: b)
    #expect(MoveFinder.find(from: a, to: b, changed: changed) == nil)
    let found = try #require(MoveFinder.find(from: a, to: b, changed: changed, isMovement: true))
    check(found, old, new)
    #expect(found.moves.isEmpty && givesAll(found, old, new) && Set(found.patches.map(\.rect)) == Set(changes))
    let (c, page) = (screen(0, 0, .init(seed: 3)), screen(0, 0, .init(seed: 4)))
    let all = PictureComparison.changes(from: c.buffer, to: page.buffer)
    #expect(MoveFinder.find(from: c.buffer, to: page.buffer, changed: all, isMovement: true) == nil)
    let none = BlockSet(old.size)
    #expect(MoveFinder.find(from: a, to: a, changed: none, isMovement: true) == nil)
  }

  @Test func `another page, and a small change, are no moves`() {
    let old = screen(0, 0)
    #expect(find(old, screen(0, 0, .init(seed: 3))) == nil)
    var new = old
    new.fill(PixelRect(x: 200, y: 200, width: 60, height: 60), 0)
    #expect(find(old, new) == nil)
    #expect(find(old, old) == nil)
    #expect(find(old, DrawnScreen(PixelSize(width: 639, height: 400))) == nil)
  }

  @Test(arguments: 1...60) func `whatever is found is right`(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    func rect() -> PixelRect {
      let (x, y) = (Int.random(in: 0..<500, using: &random), Int.random(in: 0..<300, using: &random))
      return PixelRect(
        x: x, y: y, width: Int.random(in: 60...640, using: &random), height: Int.random(in: 60...400, using: &random)
      ).intersection(PixelRect(PixelSize(width: 640, height: 400)))
    }
    var (old, new) = (DrawnScreen(), DrawnScreen())
    for _ in 0..<Int.random(in: 1...4, using: &random) {
      let (rect, page) = (rect(), DrawnScreen.Text(seed: .random(in: 0...9, using: &random)))
      let isUpright = Bool.random(using: &random)
      let step = Int.random(in: -60...60, using: &random)
      old.draw(page, from: 0, 0, in: rect)
      new.draw(page, from: isUpright ? 0 : step, isUpright ? step : 0, in: rect)
    }
    if let found = find(old, new) { check(found, old, new) }
  }
}
