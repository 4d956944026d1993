import RTCPage
import RTCPrimitives
import Testing

@Suite struct `Pixels that the page keeps` {
  /// A world with a viewer that keeps pixels, after a page has been seen.
  private func world(_ size: PixelSize = PixelSize(width: 1_280, height: 720), slots: Int = 500) -> ExactWorld {
    var world = ExactWorld(size)
    world.join("a", slots: slots)
    settle(&world)
    return world
  }

  /// Goes on until everything that rests is kept.
  private func settle(_ world: inout ExactWorld) {
    world.rest()
    world.now += .seconds(3)
    world.rest()
  }

  private func show(_ page: [Int], in world: inout ExactWorld) {
    world.show(page)
    world.frame()
  }

  @Test func `a page that was seen before is exact at once, for few bytes and without encoding`() throws {
    var world = world()
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    #expect(world.seen("a") == world.screen)
    let second = world.screen
    let (encoded, start) = (world.encoded.count, world.now)
    for page in [first, second, first] {
      let bytes = world.pages["a"]!.bytes
      show(page, in: &world)
      world.rest(.milliseconds(1))
      #expect(world.seen("a") == world.screen)
      #expect(world.pages["a"]!.bytes - bytes < 100, "a void, and a run of 120 cells")
      settle(&world)
    }
    #expect(world.encoded.count == encoded)
    #expect(world.pages["a"]!.recalled == 3 * 120 && world.pages["a"]!.missed == 0)
    #expect(world.now > start)
  }

  @Test func `a screen that rests is not hashed again, and sent nothing`() {
    var world = world()
    let (hashed, bytes) = (world.hashed, world.pages["a"]!.bytes)
    #expect(hashed == 120, "10 x 12 cells of 128 x 64")
    world.now += .seconds(60)
    #expect(world.work() == nil)
    #expect(world.hashed == hashed && world.channels["a"]!.isEmpty && world.pages["a"]!.bytes == bytes)
    world.change(BlockRect(column: 7, row: 3, width: 2, height: 2))
    world.work()
    #expect(world.hashed == hashed + 4, "the change is in four cells")
  }

  @Test func `what has not changed between scattered changes returns at once`() {
    var world = world()
    var blocks = BlockSet(world.size)
    for row in stride(from: 0, to: 45, by: 8) {
      for column in stride(from: 0, to: 80, by: 2) { blocks.insert(column: column, row: row) }
    }
    world.change(blocks)
    world.frame()
    world.rest(.milliseconds(1))
    #expect(world.pages["a"]!.recalled == 50, "every second row of cells; a void has 64 rectangles, or one")
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a film is not hashed while it runs`() {
    var world = world()
    let hashed = world.hashed
    for _ in 0..<300 {
      world.now += .milliseconds(33)
      world.change(BlockRect(column: 0, row: 0, width: 80, height: 45))
      world.work()
      world.finish()
    }
    #expect(world.hashed == hashed + 120, "the first picture alone")
    world.now += .milliseconds(50)
    world.work()
    #expect(world.hashed == hashed + 240, "it has paused")
  }

  @Test func `a clock takes no place`() throws {
    var world = world()
    let clock = BlockRect(column: 70, row: 0, width: 5, height: 2)
    let bytes = world.pages["a"]!.bytes
    var plain = 0
    for _ in 0..<60 {
      world.now += .seconds(1)
      world.change(clock)
      world.work()
      plain += 9 + 6 + 17 + 20 + 7
      world.rest(.milliseconds(500))
    }
    #expect(world.pages["a"]!.bytes - bytes < plain, "rectangles, and nothing about cells")
    let last = world.screen
    settle(&world)
    world.now += .seconds(60)
    world.change(clock)
    world.rest()
    world.show(last)
    world.rest()
    #expect(world.pages["a"]!.recalled == 2, "it had stopped; it is in two cells")
    #expect(world.seen("a").count { $0 == nil } == 0)
  }

  @Test func `an older page is told of cells, and of nothing else`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    settle(&world)
    #expect(world.seen("a") == world.screen && world.hashed == 0 && world.work() == nil)
  }

  @Test func `what is discarded first is what was not wanted for the longest time`() {
    // A screen has 120 cells; two and a half screens are kept.
    var world = world(slots: 300)
    var pages = [world.screen]
    for _ in 0..<2 {
      world.change(.all(of: world.size))
      world.frame()
      settle(&world)
      pages.append(world.screen)
    }
    let encoded = world.encoded.count
    show(pages[1], in: &world)
    settle(&world)
    #expect(world.encoded.count == encoded && world.pages["a"]!.recalled == 120)
    // Half of the first page had to go for the third.
    show(pages[0], in: &world)
    settle(&world)
    #expect(world.encoded.count > encoded && world.pages["a"]!.recalled == 180)
    #expect(world.seen("a") == world.screen && world.pages["a"]!.missed == 0)
  }

  @Test func `what was on the screen last is kept longest, however long it was there`() {
    var world = world(slots: 300)
    // The upper half changes three times beside the lower one, and then everything.
    for _ in 0..<3 {
      world.change(BlockRect(column: 0, row: 0, width: 80, height: 24))
      world.frame()
      settle(&world)
    }
    let last = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    show(last, in: &world)
    world.rest(.milliseconds(1))
    #expect(world.seen("a") == last && world.pages["a"]!.recalled == 120)
  }

  @Test func `a page that keeps less than a screen is right all the same`() {
    var world = world(slots: 7)
    let first = world.screen
    for _ in 0..<3 {
      world.change(.all(of: world.size))
      world.frame()
      settle(&world)
    }
    show(first, in: &world)
    settle(&world)
    #expect(world.seen("a") == world.screen && world.pages["a"]!.missed == 0)
  }

  @Test func `cells that the page does not have are sent at once`() {
    var world = ExactWorld()
    world.join("a", slots: 500)
    world.pages["a"]!.losesOneOf = 10
    settle(&world)
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    world.pages["a"]!.losesOneOf = 0
    show(first, in: &world)
    world.rest()
    #expect(world.seen("a") == world.screen)
    #expect(world.pages["a"]!.recalled == 120 && world.pages["a"]!.missed == 12)
    // Then it keeps them.
    settle(&world)
    let (encoded, missed) = (world.encoded.count, world.pages["a"]!.missed)
    world.change(BlockRect(column: 0, row: 0, width: 80, height: 45))
    world.frame()
    settle(&world)
    show(first, in: &world)
    world.rest()
    #expect(world.seen("a") == world.screen && world.pages["a"]!.missed == missed)
    #expect(world.encoded.count == encoded + 6, "strips of the page between")
  }

  @Test func `cells that were sent before the page says that it does not have them are announced when they change`() {
    var world = world()
    let (first, cell) = (world.screen, BlockRect(column: 8, row: 4, width: 8, height: 4))
    world.change(cell)
    world.frame()
    settle(&world)
    show(first, in: &world)
    world.work()
    world.pages["a"]!.discard()
    // Until the recall is answered, the cell has changed and was sent again.
    let late = world.channels["a"]!.last!
    while !world.channels["a"]!.isEmpty { world.receive("a", acknowledges: false) }
    world.now += .seconds(1)
    world.change(cell)
    world.frame()
    for _ in 0..<2 {
      world.work()
      world.finish()
    }
    while !world.channels["a"]!.isEmpty { world.receive("a", acknowledges: false) }
    while world.videos["a"]?.isEmpty == false { world.show("a") }
    #expect(late[0] == 7 && world.seen("a") == world.screen)
    world.handle(.missing(UInt32(late[8]), cells: [0]), from: "a")
    world.change(cell)
    world.frame()
    while !world.channels["a"]!.isEmpty { world.receive("a") }
    while world.videos["a"]?.isEmpty == false { world.show("a") }
    #expect(world.staleBlock("a") == nil)
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a page that keeps nothing more is named nothing more`() {
    var world = world()
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    let second = world.screen
    show(first, in: &world)
    world.work()
    // The names that the caster sent meanwhile are on their way.
    world.pages["a"]!.discard()
    world.handle(.cache(slots: 0), from: "a")
    let hashed = world.hashed
    settle(&world)
    #expect(world.seen("a") == world.screen && world.pages["a"]!.missed == 120)
    show(second, in: &world)
    settle(&world)
    #expect(world.seen("a") == world.screen && world.pages["a"]!.recalled == 120 && world.hashed == hashed)
  }

  @Test func `a page that was hidden, and a picture of another size, begin with nothing kept`() {
    var world = world()
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    world.handle(.ready(isVisible: false), from: "a")
    world.pages["a"]?.forget()
    show(first, in: &world)
    settle(&world)
    world.ready("a")
    settle(&world)
    #expect(world.seen("a") == world.screen && world.pages["a"]!.recalled == 0)
    world.change(to: PixelSize(width: 800, height: 601))
    world.frame()
    settle(&world)
    let other = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    show(other, in: &world)
    world.rest(.milliseconds(1))
    #expect(world.seen("a") == world.screen && world.pages["a"]!.recalled == 70, "7 x 10 cells, some of them cut off")
  }

  @Test func `who joins late is sent what others are named`() {
    var world = world()
    let first = world.screen
    world.change(.all(of: world.size))
    world.frame()
    settle(&world)
    world.join("late", slots: 500)
    settle(&world)
    show(first, in: &world)
    settle(&world)
    for id in ["a", "late"] { #expect(world.seen(id) == world.screen) }
    #expect(world.pages["a"]!.recalled == 120 && world.pages["late"]!.recalled == 0)
  }

  @Test(arguments: [true, false]) func `a page that floods answers costs no more than its rate`(isStill: Bool) {
    var world = world()
    let (start, first) = (world.now, world.screen)
    world.scheduler.setRate(.kilobitsPerSecond(100), of: "a", now: world.now)
    var bytes = 0
    for step in 0..<5_000 {
      world.now += isStill ? .microseconds(100) : .milliseconds(2)
      world.handle(.cache(slots: 65_535), from: "a")
      world.handle(.missing(UInt32(step % 300), cells: Array(0..<256)), from: "a")
      if !isStill, step % 50 == 0 { world.show(step % 100 == 0 ? first : first.reversed()) }
      world.work()
      world.finish()
      for message in world.channels["a"] ?? [] where message[0] != 2 { bytes += message.count }
      world.channels["a"] = []
    }
    // 80 % of 100 kbit/s, and what may be on its way.
    #expect(bytes > 0 && Double(bytes) < 10_000 * (world.now - start).seconds + 20_000)
  }

  @Test func `cells that a page was not named say nothing`() {
    var world = world()
    let screen = world.screen
    for number in [0, 1, 2, 77, UInt32.max] {
      world.handle(.missing(number, cells: [0, 1, 255, 65_535]), from: "a")
    }
    world.rest()
    #expect(world.seen("a") == screen && world.scheduler.statistics["a"]?.share == 1)
  }

  /// Parts of pictures that were shown before return; pages keep few cells, and lose some of them.
  @Test(arguments: 1...30) func `no order of messages, frames and kept cells shows a wrong pixel`(_ seed: UInt64) throws
  {
    var random = SeededGenerator(seed: seed)
    var world = ExactWorld(PixelSize(width: 700, height: 300))
    world.join("a", slots: 20 + Int(seed) * 5)
    world.join("b", rate: .megabitsPerSecond(1), slots: seed % 2 == 0 ? 60 : nil)
    for id in ["a", "b"] { world.pages[id]!.losesOneOf = Int(seed % 3) * 5 }
    var looks = [world.screen]
    for _ in 0..<4_000 {
      world.now += .microseconds(Int64.random(in: 0...30_000, using: &random))
      switch Int.random(in: 0..<40, using: &random) {
      case 0:
        // A part of the picture is as it was.
        guard let old = looks.randomElement(using: &random), old.count == world.screen.count else { break }
        let first = Int.random(in: 0..<old.count, using: &random)
        let part = seed % 5 == 0 ? 0..<old.count : first..<Int.random(in: first...old.count, using: &random)
        world.show(world.screen.enumerated().map { part ~= $0 ? old[$0] : $1 })
      case 1: world.change(ExactWorld.rect(in: world.size, &random))
      case 2: looks.append(world.screen)
      case 3 where Int.random(in: 0..<3, using: &random) == 0: world.now += .milliseconds(700)
      case 4 where Int.random(in: 0..<50, using: &random) == 0:
        world.ready("a")
      case 5 where Int.random(in: 0..<100, using: &random) == 0:
        world.change(to: PixelSize(width: Int.random(in: 300...900, using: &random), height: 333))
        looks = [world.screen]
      case 6, 7: world.frame()
      case 8...17: world.work()
      case 18...22: world.finish()
      case 23...34: for _ in 0..<5 { world.receive(Bool.random(using: &random) ? "a" : "b") }
      default: world.show(Bool.random(using: &random) ? "a" : "b")
      }
      for id in ["a", "b"] { try #require(world.staleBlock(id) == nil) }
    }
    world.frame()
    world.rest(.seconds(60))
    for id in ["a", "b"] { #expect(world.seen(id) == world.screen) }
    #expect(world.pages["a"]!.recalled > 0)
  }
}

@Suite struct `The slots of a page` {
  @Test func `slots are used again in the order in which they were not wanted`() {
    var cache = CellCache(capacity: 3)
    func keep(_ hash: UInt64, shown: Set<UInt64> = []) -> Int? {
      cache.keep(hash, of: 5, before: 1) { hash, cell in cell == 5 && shown.contains(hash) }
    }
    #expect([keep(10), keep(11), keep(12)] == [0, 1, 2])
    cache.touch(0)
    #expect(keep(13) == 1 && cache.slot(of: 11) == nil && cache.slot(of: 10) == 0)
    #expect(keep(14, shown: [12]) == 0, "what is shown stays")
    #expect(keep(15, shown: [12, 13, 14]) == nil && cache.slot(of: 15) == nil)
    #expect([12, 13, 14].map { cache.slot(of: $0) } == [2, 1, 0])
  }

  @Test func `a slot that the page did not have is used again, and not if it was filled later`() {
    var cache = CellCache(capacity: 2)
    _ = cache.keep(10, of: 0, before: 7) { _, _ in false }
    _ = cache.keep(11, of: 0, before: 8) { _, _ in false }
    cache.forget(1, at: 7)
    #expect(cache.slot(of: 11) == 1, "it was filled after that rectangle")
    cache.forget(0, at: 7)
    cache.forget(9, at: 7)
    #expect(cache.slot(of: 10) == nil)
    #expect(cache.keep(12, of: 0, before: 9) { _, _ in true } == 0)
  }

  @Test func `a page offers no more than the caster remembers`() {
    #expect(CellCache(capacity: 65_535).capacity == 4_096 && CellCache(capacity: -1).capacity == 0)
    var cache = CellCache()
    #expect(cache.keep(1, of: 0, before: 1) { _, _ in false } == nil)
  }
}
