import RTCMedia
import RTCPage
import RTCPrimitives
import Testing

@Suite struct `Moves on the exact channel` {
  /// It reaches to the end of the picture, from beyond which new rows come.
  private let pane = BlockRect(column: 4, row: 2, width: 60, height: 43)

  @Test func `what scrolls stays exact, for few bytes`() throws {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    let bytes = world.pages["a"]!.bytes
    for _ in 0..<30 {
      world.now += .milliseconds(33)
      world.move(pane, columns: 0, rows: -1)
      world.frame()
      while world.channels["a"]?.isEmpty == false { world.receive("a") }
      #expect(world.seen("a") == world.screen)
    }
    let statistics = try #require(world.scheduler.statistics["a"])
    #expect(statistics.moves == 30 && statistics.share == 1 && statistics.unacknowledgedBytes == 0)
    #expect(world.pages["a"]!.copied == 30 * pane.area)
    // Two bytes for each of the 60 blocks that were new, as in a rectangle.
    #expect(world.pages["a"]!.bytes - bytes < 30 * (60 * 2 + 80))
  }

  @Test func `an older page is sent no moves`() throws {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    world.move(pane, columns: 0, rows: -1)
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen && !world.scheduler.wantsMoves)
    #expect(try #require(world.scheduler.statistics["a"]).moves == 0)
  }

  @Test func `a hidden page, and one that has nothing, are sent no moves`() {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.move(pane, columns: 0, rows: -1)
    #expect(!world.scheduler.wantsMoves)
    world.rest()
    #expect(world.scheduler.wantsMoves)
    world.handle(.ready(isVisible: false), from: "a")
    #expect(!world.scheduler.wantsMoves)
    world.ready("a")
    world.rest()
    #expect(world.seen("a") == world.screen && world.scheduler.wantsMoves, "it follows after it was hidden, too")
  }

  /// The number of blocks that the page does not show after each step of a scroll, some of which the caster has not seen.
  private func holes(
    _ world: inout ExactWorld, steps: Int, rows: Int = -1, unseen: ClosedRange<Int>
  ) -> [Int] {
    (0..<steps).map { step in
      world.now += .milliseconds(33)
      world.move(pane, columns: 0, rows: rows, isSeen: !unseen.contains(step))
      while world.channels["a"]?.isEmpty == false { world.receive("a") }
      #expect(zip(world.seen("a"), world.screen).allSatisfy { $0 == nil || $0 == $1 })
      return world.seen("a").count { $0 == nil }
    }
  }

  @Test(arguments: [-3, -2, -1]) func `holes in what scrolls are repaired while it scrolls`(_ rows: Int) throws {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.join("b", follows: true)
    world.rest()
    let left = holes(&world, steps: 12, rows: rows, unseen: 2...3)
    #expect(left[1] == 0 && left[3] == pane.area && left[11] == 0)
    // 160,000 pixels in each step.
    #expect(left[4] >= pane.area - 625 && left[9] == 0)
    while world.channels["b"]?.isEmpty == false { world.receive("b") }
    #expect(world.seen("b") == world.screen)
  }

  @Test func `repairs are sent only to the viewers that need them`() throws {
    var world = ExactWorld()
    world.join("b", follows: true)
    world.rest()
    world.join("a", rate: .kilobitsPerSecond(300), follows: true)
    for _ in 0..<20 where world.scheduler.statistics["a"]?.share == 0 {
      world.now += .milliseconds(5)
      world.work()
      world.finish()
    }
    while world.channels["a"]?.isEmpty == false { world.receive("a") }
    world.show("a")
    #expect(world.seen("a").contains(nil))
    let before = world.pages["b"]!.bytes
    let left = holes(&world, steps: 4, unseen: 9...9)
    while world.channels["b"]?.isEmpty == false { world.receive("b") }
    #expect(left[3] < left[0])
    #expect(world.seen("b") == world.screen && world.pages["b"]!.bytes - before < 4 * (60 * 2 + 80))
  }

  @Test func `repairs leave half of the bandwidth to the next rows`() throws {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(60), follows: true)
    world.rest(.seconds(40))
    world.now += .seconds(Int64(2))
    // 6,000 bytes a second for patches; each new row takes 169 of them, and all holes 5,400.
    var left = holes(&world, steps: 1, unseen: 0...0)
    let last = BlockRect(column: 4, row: 44, width: 60, height: 1)
    for _ in 0..<8 {
      left += holes(&world, steps: 1, unseen: 9...9)
      #expect(!(last.column..<last.endColumn).contains { world.seen("a")[last.row * 80 + $0] == nil })
    }
    #expect(left[8] > 0 && left[8] < left[1])
  }

  @Test func `what changes all the time is not repaired`() throws {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    let film = BlockRect(column: 10, row: 20, width: 20, height: 10)
    world.change(film)
    var (moved, changed) = (BlockSet(world.size), BlockSet(world.size))
    changed.insert(pane)
    moved.insert(pane)
    moved.remove(film)
    var picture = MovedPicture(
      moves: [PictureMove(pane.pixels(in: world.size), dx: 0, dy: -16)], moved: moved, patches: [])
    world.scheduler.choosePatches(of: &picture, changed, world.now)
    // The row above the film is what was in it.
    let above = BlockRect(column: 10, row: 19, width: 20, height: 1)
    #expect(picture.patches.map(\.rect) == [above.pixels(in: world.size)])
  }

  @Test func `patches of one message are limited together`() throws {
    var world = ExactWorld()
    world.join("a", rate: .megabitsPerSecond(50), follows: true)
    world.rest()
    var changed = BlockSet(world.size)
    let rects = [BlockRect(column: 1, row: 1, width: 9, height: 9), BlockRect(column: 1, row: 20, width: 9, height: 9)]
    for rect in rects { changed.insert(rect) }
    var picture = MovedPicture(
      moves: [], moved: BlockSet(world.size), patches: rects.map { $0.pixels(in: world.size) })
    picture.encode { _ in [UInt8](repeating: 0, count: 30_000) }
    var out: [ExactScheduler.Delivery] = []
    world.scheduler.take(changed, moved: picture, captureTime: world.now, now: world.now, into: &out)
    #expect(out.count == 1 && (30_000..<31_000).contains(out[0].message.count))
  }

  @Test func `patches that take too many bytes are not tried again at once`() {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    let size = world.size
    var changed = BlockSet(size)
    changed.insert(pane)
    func picture() -> MovedPicture {
      MovedPicture(moves: [], moved: BlockSet(size), patches: [PixelRect(x: 64, y: 32, width: 90, height: 90)])
    }
    var moved = picture()
    world.scheduler.choosePatches(of: &moved, changed, world.now)
    #expect(moved.patches.count == 1)
    world.scheduler.refusePatches(of: moved.encode { _ in nil }, world.now)
    #expect(moved.patches.isEmpty)
    moved = picture()
    world.scheduler.choosePatches(of: &moved, changed, world.now + .milliseconds(499))
    #expect(moved.patches.isEmpty)
    moved = picture()
    world.scheduler.choosePatches(of: &moved, changed, world.now + .milliseconds(500))
    #expect(moved.patches.count == 1)
  }

  @Test func `a small change beside a movement is in its message`() throws {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    let clock = BlockRect(column: 70, row: 0, width: 4, height: 2)
    world.change(clock)
    for _ in 0..<5 {
      world.now += .milliseconds(33)
      world.patch(clock)
      while world.channels["a"]?.isEmpty == false { world.receive("a") }
      #expect(world.seen("a") == world.screen)
    }
    #expect(world.scheduler.statistics["a"]?.moves == 5)
  }

  @Test func `what a viewer lacks is not copied, and comes when all is still`() {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    world.encodesPatches = false
    let film = BlockRect(column: 10, row: 20, width: 20, height: 10)
    for _ in 0..<4 {
      world.now += .milliseconds(33)
      world.change(film)
      world.move(pane, columns: 0, rows: -2)
      world.frame()
      while world.channels["a"]?.isEmpty == false { world.receive("a") }
      while world.videos["a"]?.isEmpty == false { world.show("a") }
      #expect(world.staleBlock("a") == nil && zip(world.seen("a"), world.screen).allSatisfy { $0 == nil || $0 == $1 })
    }
    #expect(world.seen("a").contains(nil))
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `without bandwidth what moved is copied all the same`() throws {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(300), follows: true)
    world.rest()
    // 4,096 bytes may be on their way; each move with its new row takes 169.
    for _ in 0..<28 {
      world.now += .milliseconds(10)
      world.move(pane, columns: 0, rows: -1)
      while world.channels["a"]?.isEmpty == false { world.receive("a", acknowledges: false) }
    }
    let statistics = try #require(world.scheduler.statistics["a"])
    #expect(statistics.moves == 28 && statistics.unacknowledgedBytes < 5_000)
    let lacking = world.seen("a").count { $0 == nil }
    #expect(lacking >= 60 && lacking <= 5 * 60, "the last new rows are left to the video")
    world.handle(.acknowledgement(UInt32(statistics.rectangles + statistics.moves)), from: "a")
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a page that acknowledges no moves is sent a bounded number of them`() throws {
    var world = ExactWorld()
    world.join("a", follows: true)
    world.rest()
    for _ in 0..<1_000 {
      world.now += .milliseconds(33)
      world.move(pane, columns: 0, rows: -1)
      world.frame()
      while world.channels["a"]?.isEmpty == false { world.receive("a", acknowledges: false) }
    }
    #expect(try #require(world.scheduler.statistics["a"]).moves <= 256)
  }

  @Test func `cells that a page lacks and that have moved meanwhile are sent`() {
    var world = ExactWorld()
    world.join("a", slots: 400, follows: true)
    world.pages["a"]!.losesOneOf = 3
    world.rest()
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    world.rest()
    world.show(first)
    world.frame()
    world.now += .milliseconds(500)
    world.recall()
    world.move(pane, columns: 0, rows: -3)
    world.frame()
    world.rest()
    #expect(world.pages["a"]!.missed > 0 && world.seen("a") == world.screen)
  }

  @Test(arguments: 1...20) func `no order of moves and other messages shows a wrong pixel`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = ExactWorld(PixelSize(width: 700, height: 300))
    world.join("a", slots: 60, follows: true)
    world.join("b", rate: .megabitsPerSecond(1), follows: true)
    world.join("c")
    world.pages["a"]!.losesOneOf = Int(seed % 3) * 5
    let all = ["a", "b", "c"]
    var (looks, snapshots) = ([world.screen], [world.handOut(0)])
    for step in 0..<1_500 {
      world.now += .microseconds(Int64.random(in: 0...30_000, using: &random))
      switch Int.random(in: 0..<30, using: &random) {
      case 0: world.change(ExactWorld.rect(in: world.size, &random))
      case 1, 2: world.frame()
      case 3: world.patch(ExactWorld.rect(in: world.size, &random))
      case 4...5:
        let step = Int.random(in: -4...4, using: &random)
        let isUpright = Int.random(in: 0..<3, using: &random) > 0
        world.move(
          ExactWorld.rect(in: world.size, &random), columns: isUpright ? 0 : step, rows: isUpright ? step : 0,
          isSeen: Int.random(in: 0..<8, using: &random) > 0)
        if Bool.random(using: &random) { world.frame() }
      case 6 where Int.random(in: 0..<3, using: &random) == 0: world.now += .milliseconds(700)
      case 7 where Int.random(in: 0..<4, using: &random) == 0: looks.append(world.screen)
      case 8 where Int.random(in: 0..<4, using: &random) == 0:
        let old = looks.randomElement(using: &random)!
        if old.count == world.screen.count { world.show(old) }
      case 9 where Int.random(in: 0..<50, using: &random) == 0:
        world.change(to: PixelSize(width: Int.random(in: 17...900, using: &random), height: 333))
      case 10 where Int.random(in: 0..<20, using: &random) == 0:
        world.channels["a"] = []
        world.ready("a", having: snapshots.randomElement(using: &random))
      case 11 where Int.random(in: 0..<20, using: &random) == 0: snapshots.append(world.handOut(UInt32(step)))
      case 12...15: world.work()
      case 16...18: world.finish()
      case 19...24: for _ in 0..<5 { world.receive(all.randomElement(using: &random)!) }
      default: world.show(all.randomElement(using: &random)!)
      }
      for id in all { try #require(world.staleBlock(id) == nil) }
    }
    world.frame()
    world.rest(.seconds(60))
    for id in all { #expect(world.seen(id) == world.screen) }
    #expect(world.pages["a"]!.copied + world.pages["b"]!.copied > 0 && world.pages["c"]!.copied == 0)
  }

  // MARK: - Pixel by pixel

  /// Two panes and a clock, on a screen whose panes lie anywhere.
  @Test(arguments: 1...8) func `every pixel of every step is right`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let size = PixelSize(
      width: Int.random(in: 560...640, using: &random), height: Int.random(in: 330...400, using: &random))
    let panes = [
      PixelRect(
        x: Int.random(in: 0...40, using: &random), y: Int.random(in: 0...60, using: &random), width: 270, height: 290),
      PixelRect(
        x: Int.random(in: 312...330, using: &random), y: Int.random(in: 0...60, using: &random), width: 220, height: 250
      ),
    ]
    let texts = [DrawnScreen.Text(seed: seed), DrawnScreen.Text(seed: seed + 100)]
    var places = [(0, 0), (0, 0)]
    var (screen, typed, page) = (DrawnScreen(size), DrawnScreen(size), PixelPage())
    func draw() {
      screen = typed
      for index in 0..<2 { screen.draw(texts[index], from: places[index].0, places[index].1, in: panes[index]) }
    }
    draw()
    var scheduler = ExactScheduler()
    var now = Timestamp.zero + .seconds(10)
    var out: [ExactScheduler.Delivery] = []
    scheduler.add("a", clock: RTPTimestamp(0), rate: .megabitsPerSecond(50), now: now)
    scheduler.handle(.ready(isVisible: true), from: "a", now: now, into: &out)
    scheduler.take(.all(of: size), captureTime: now, now: now, into: &out)
    // Instead of a WebP file, its place among all of them.
    func encoded(_ rect: PixelRect) -> [UInt8] {
      page.files.append(screen.pixels(in: rect))
      return (0..<4).map { UInt8(truncatingIfNeeded: (page.files.count - 1) >> (24 - 8 * $0)) }
    }
    func deliver() {
      while !out.isEmpty {
        let messages = out
        out = []
        for delivery in messages {
          if let answer = page.take(delivery.message) { scheduler.handle(answer, from: "a", now: now, into: &out) }
        }
      }
    }
    func rest() {
      for _ in 0..<40 {
        now += .milliseconds(20)
        while case .encode(let job) = scheduler.next(now, into: &out) {
          scheduler.finish(job, encoded(job.rect.pixels(in: size)))
        }
        deliver()
      }
    }
    rest()
    #expect(page.pixels == screen.pixels)
    var exact = 0
    for step in 0..<60 {
      now += .milliseconds(33)
      let before = screen.buffer
      for index in 0..<2 where Int.random(in: 0...2, using: &random) > 0 {
        if step % 20 < 15 { places[index].1 += Int.random(in: -30...60, using: &random) } else { places[index].0 += 11 }
      }
      if step % 4 == 0 { typed.fill(PixelRect(x: 300, y: 2, width: 9, height: 9), UInt32(step)) }
      draw()
      let changed = PictureComparison.changes(from: before, to: screen.buffer)
      var moved = MoveFinder.find(from: before, to: screen.buffer, changed: changed, isMovement: step % 3 > 0)
      // Some movements are not seen.
      if step % 10 == 4 { moved = nil }
      if moved != nil { scheduler.choosePatches(of: &moved!, changed, now) }
      moved?.encode { rect in rect.width % 5 == 4 && step % 10 == 2 ? nil : encoded(rect) }
      scheduler.take(changed, moved: moved, captureTime: now, now: now, into: &out)
      deliver()
      try #require(zip(page.pixels, screen.pixels).allSatisfy { $0 == nil || $0 == $1 })
      exact += page.pixels == screen.pixels ? 1 : 0
    }
    #expect(page.moves > 20 && exact > 20)
    rest()
    #expect(page.pixels == screen.pixels)
  }
}

/// A page with pixels.
private struct PixelPage {
  private var size = PixelSize(width: 0, height: 0)
  private(set) var pixels: [UInt32?] = []
  private(set) var moves = 0
  /// The pixels of each file, which the message names.
  var files: [[UInt32]] = []

  /// The numbers of a message, one after the other.
  private struct Reader {
    let bytes: [UInt8]
    var offset = 0

    mutating func number(_ count: Int) -> Int {
      offset += count
      return bytes[offset - count..<offset].reduce(0) { $0 << 8 | Int($1) }
    }
    mutating func four() -> [Int] { (0..<4).map { _ in number(2) } }
    mutating func rect() -> PixelRect {
      let four = four()
      return PixelRect(x: four[0], y: four[1], width: four[2], height: four[3])
    }
    mutating func blocks(_ size: PixelSize) -> PixelRect {
      let four = four()
      return BlockRect(column: four[0], row: four[1], width: four[2], height: four[3]).pixels(in: size)
    }
  }

  mutating func take(_ bytes: [UInt8]) -> ExactViewerMessage? {
    var reader = Reader(bytes: bytes)
    let kind = reader.number(1)
    _ = reader.number(4)
    switch kind {
    case 1:
      size = PixelSize(width: reader.number(2), height: reader.number(2))
      pixels = Array(repeating: nil, count: size.width * size.height)
    case 2: for _ in 0..<reader.number(2) { each(reader.blocks(size)) { pixels[$0] = nil } }
    case 3:
      let number = UInt32(reader.number(4))
      let rect = reader.rect()
      draw(files[reader.number(4)], in: rect, into: &pixels)
      return .acknowledgement(number)
    case 8:
      let number = UInt32(reader.number(4))
      let counts = reader.four()
      let voids = (0..<counts[0]).map { _ in reader.blocks(size) }
      let drawn = (0..<counts[1]).map { _ in reader.blocks(size) }
      var made = pixels
      for _ in 0..<counts[2] {
        let rect = reader.rect()
        let by = (0..<2).map { _ in Int(Int16(truncatingIfNeeded: reader.number(2))) }
        each(rect) { made[$0] = pixels[$0 - by[1] * size.width - by[0]] }
      }
      let patches = (0..<counts[3]).map { _ in (reader.rect(), reader.number(4)) }
      for (rect, _) in patches { draw(files[reader.number(4)], in: rect, into: &made) }
      for rect in voids { each(rect) { pixels[$0] = nil } }
      for rect in drawn { each(rect) { pixels[$0] = made[$0] } }
      // The caster knows what is here.
      for rect in drawn { each(rect) { precondition(pixels[$0] != nil) } }
      precondition(reader.offset == bytes.count)
      moves += 1
      return .acknowledgement(number)
    case 9: return .follows
    default: break
    }
    return nil
  }

  private func draw(_ file: [UInt32], in rect: PixelRect, into pixels: inout [UInt32?]) {
    var index = 0
    each(rect) {
      pixels[$0] = file[index]
      index += 1
    }
  }

  private func each(_ rect: PixelRect, _ body: (Int) -> Void) {
    for y in rect.y..<rect.maxY { for x in rect.x..<rect.maxX { body(y * size.width + x) } }
  }
}
