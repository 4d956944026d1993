import RTCPage
import RTCPrimitives
import Testing

@Suite struct `What is sent exactly, when, and to whom` {
  @Test func `a screen that rests is all there, encoded once for all viewers`() {
    var world = ExactWorld()
    world.join("a")
    world.join("b")
    world.rest()
    for id in ["a", "b"] { #expect(world.seen(id) == world.screen) }
    #expect(world.encoded.count == 6, "strips of 1280 x 128 in 1280 x 720")
    #expect(Set(world.encoded.map(\.rect)).count == 6)
    world.join("late")
    world.rest()
    #expect(world.seen("late") == world.screen && world.encoded.count == 6)
    #expect(world.work() == nil, "a screen that rests costs nothing")
  }

  @Test func `a word goes at once, by itself`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    let (before, start) = (world.encoded.count, world.now)
    let word = BlockRect(column: 20, row: 9, width: 5, height: 2)
    world.change(word)
    world.work()
    #expect(world.encoded[before...].map(\.rect) == [word] && world.now == start)
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen && world.encoded.count == before + 1)
  }

  @Test func `what moves is left to the video until it rests`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    let (before, film) = (world.encoded.count, BlockRect(column: 32, row: 8, width: 32, height: 16))
    for _ in 0..<60 {
      world.now += .milliseconds(33)
      world.change(film)
      world.frame()
      world.work()
      world.finish()
      while world.channels["a"]?.isEmpty == false { world.receive("a") }
      world.show("a")
    }
    #expect(world.encoded.count == before)
    #expect(world.seen("a").count { $0 == nil } == film.area, "the rest of the picture goes on being exact")
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a photograph stays video until it changes`() {
    var world = ExactWorld()
    world.costly = [8]
    world.join("a")
    world.rest()
    #expect(world.seen("a").count { $0 == nil } == 80 * 8)
    #expect(world.encoded.count == 9, "it is tried once as a strip, and once by the tile")
    world.costly = []
    world.change(BlockRect(column: 0, row: 8, width: 80, height: 8))
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `what changes while it is encoded is not sent`() {
    var world = ExactWorld()
    world.join("a")
    world.now += .seconds(1)
    world.work()
    world.change(BlockRect(column: 3, row: 3, width: 1, height: 1))
    world.finish()
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a page that is not seen is sent nothing, and begins anew`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    world.handle(.ready(isVisible: false), from: "a")
    world.pages["a"]?.forget()
    let before = world.encoded.count
    for _ in 0..<10 {
      world.change(BlockRect(column: 0, row: 0, width: 20, height: 20))
      world.frame()
      world.now += .seconds(1)
      world.work()
      world.finish()
    }
    #expect(world.encoded.count == before && world.channels["a"]?.isEmpty != false)
    world.ready("a")
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  /// A tab in the background: an hour of changes, ten a second.
  @Test func `a page that is not seen for an hour costs nothing, and nothing grows`() throws {
    var world = ExactWorld(PixelSize(width: 320, height: 160))
    world.join("a")
    world.join("seen")
    world.rest()
    world.handle(.ready(isVisible: false), from: "a")
    world.pages["a"]?.forget()
    let before = try #require(world.scheduler.statistics["a"])
    #expect(!before.isVisible && before.share == 0 && before.rectangles > 0 && before.unacknowledgedBytes == 0)
    let snapshot = world.handOut(5)
    for step in 0..<36_000 {
      world.now += .milliseconds(100)
      world.change(BlockRect(column: step % 15, row: step % 7, width: 3, height: 2))
      world.frame()
      world.work()
      world.finish()
      world.work()
      while world.channels["seen"]?.isEmpty == false { world.receive("seen") }
      (world.videos["a"], world.videos["seen"]) = (nil, nil)
    }
    #expect(world.channels["a"]?.isEmpty != false && world.scheduler.statistics["a"] == before)
    let seen = try #require(world.scheduler.statistics["seen"])
    #expect(seen.rectangles > 10_000 && seen.unacknowledgedBytes == 0)
    world.handle(.ready(isVisible: false), from: "seen")
    #expect(!world.scheduler.wantsChanges(world.now), "the snapshot is forgotten, and nobody looks")
    world.frame()
    world.ready("a", having: snapshot)
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `a page that acknowledges nothing for an hour holds what its window is, and no more`() throws {
    var world = ExactWorld(PixelSize(width: 320, height: 160))
    world.join("a", rate: .megabitsPerSecond(1))
    for step in 0..<36_000 {
      world.now += .milliseconds(100)
      world.change(BlockRect(column: step % 15, row: step % 7, width: 3, height: 2))
      world.frame()
      world.work()
      world.finish()
      while world.channels["a"]?.isEmpty == false { world.receive("a", acknowledges: false) }
      world.videos["a"] = nil
    }
    let held = try #require(world.scheduler.statistics["a"])
    // 120 ms of 80 % of 1 Mbit/s are 12,000 bytes, and 256 rectangles are the most.
    #expect(held.rectangles <= 256 && held.unacknowledgedBytes < 13_000)
  }

  @Test
  func `the rate is wanted while something that rests is on its way to all who watch, and for eight seconds at most`() {
    var world = ExactWorld()
    world.join("a")
    world.join("b")
    world.rest()
    func isWanted(_ count: Int = 2) -> Bool { world.scheduler.wantsRate(ofViewers: count, world.now) }
    #expect(!isWanted(), "all is there")
    world.change(BlockRect(column: 0, row: 0, width: 80, height: 45))
    #expect(isWanted() && !isWanted(3), "somebody sees the video alone")
    world.now += .milliseconds(33)
    world.change(BlockRect(column: 0, row: 0, width: 80, height: 45))
    #expect(!isWanted(), "it moves")
    world.now += .milliseconds(300)
    #expect(isWanted())
    world.now += .milliseconds(7_699)
    #expect(isWanted())
    world.now += .milliseconds(1)
    #expect(!isWanted(), "the network bears too little")
    world.scheduler.setReachable(false, "b")
    world.rest()
    world.change(BlockRect(column: 0, row: 0, width: 2, height: 1))
    #expect(!isWanted() && isWanted(1), "whoever is not heard of is not waited for")
    world.scheduler.setReachable(true, "b")
    #expect(isWanted())
    world.handle(.ready(isVisible: false), from: "b")
    #expect(!isWanted() && isWanted(1))
    world.rest()
    #expect(!isWanted(1))
  }

  @Test func `the rate is not wanted for whoever acknowledges nothing`() {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(500))
    world.now += .seconds(1)
    world.work()
    world.finish()
    world.work()
    #expect(world.scheduler.wantsRate(ofViewers: 1, world.now))
    world.now += .milliseconds(1_001)
    #expect(!world.scheduler.wantsRate(ofViewers: 1, world.now))
    world.receive("a")
    while world.channels["a"]?.isEmpty == false { world.receive("a") }
    #expect(world.scheduler.wantsRate(ofViewers: 1, world.now), "it goes on")
  }

  @Test func `on a slow network tiles go one by one, encoded small`() {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(500))
    world.rest()
    #expect(world.seen("a") == world.screen)
    #expect(world.encoded.count == 18, "tiles of 512 x 128 in 1280 x 720")
    #expect(Set(world.encoded.map(\.isThorough)) == [true])
    world.join("b", rate: .megabitsPerSecond(20))
    world.rest()
    #expect(world.seen("b") == world.screen && world.encoded.count == 18, "what there is will do")
  }

  @Test func `a strip is not sent for a tile of it`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    let before = world.encoded.count
    world.change(BlockRect(column: 64, row: 8, width: 16, height: 8))
    world.frame()
    world.rest()
    #expect(world.encoded[before...].map(\.rect) == [BlockRect(column: 64, row: 8, width: 16, height: 8)])
    world.join("b")
    world.rest()
    for id in ["a", "b"] { #expect(world.seen(id) == world.screen) }
  }

  @Test func `what exact pixels took of the rate is theirs`() throws {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(100))
    world.rest()
    let start = world.now
    let bytes = try #require(world.scheduler.statistics["a"]).bytes
    // All of it was sent within the last second, and is no longer told.
    world.scheduler.setRate(BitRate(bitsPerSecond: 100_000 - Int64(bytes) * 8), of: "a", now: world.now)
    world.change(.all(of: world.size))
    world.rest()
    #expect(world.seen("a") == world.screen)
    // 7.5 kB of 10 kB a second, behind 100 ms of rest.
    #expect(world.now - start < .milliseconds(1_100))
  }

  @Test func `statistics say what a viewer has, and why not more`() throws {
    var world = ExactWorld()
    world.costly = [8]
    world.join("a")
    world.rest()
    var statistics = try #require(world.scheduler.statistics["a"])
    // One of six rows of tiles is a photograph: 8 of 45 rows of blocks.
    #expect(statistics.isVisible && statistics.rectangles == 5 && statistics.unacknowledgedBytes == 0)
    #expect(abs(statistics.share - 37 / 45.0) < 1e-9 && abs(statistics.videoShare - 8 / 45.0) < 1e-9)
    #expect(statistics.bytes == 37 * 80 * 2 + 5 * 17)
    world.change(BlockRect(column: 0, row: 0, width: 80, height: 8))
    statistics = try #require(world.scheduler.statistics["a"])
    #expect(abs(statistics.share - 29 / 45.0) < 1e-9 && abs(statistics.videoShare - 8 / 45.0) < 1e-9)
    #expect(world.scheduler.statistics.count == 1)
  }

  @Test func `another size begins anew`() {
    var world = ExactWorld()
    world.join("a")
    world.rest()
    world.change(to: PixelSize(width: 800, height: 601))
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `video comes first, and what is on its way is bounded`() {
    var world = ExactWorld()
    world.join("a", rate: .kilobitsPerSecond(800))
    world.now += .seconds(1)
    world.frame(bytes: 1_000_000)
    world.work()
    #expect(world.channels["a"]?.isEmpty != false, "a frame has taken what there was")
    // Nothing is acknowledged from here on.
    for _ in 0..<2_000 {
      world.now += .milliseconds(10)
      world.work()
      world.finish()
      world.receive("a", acknowledges: false)
    }
    // 80 % of 800 kbit/s for 120 ms are 9,600 bytes; the last may go over.
    #expect(world.pages["a"]!.received.count <= 20)
    let received = world.pages["a"]!.received.count
    world.handle(.acknowledgement(77_777), from: "a")
    world.work()
    #expect(world.pages["a"]!.received.count == received, "what it was not sent says nothing")
  }

  @Test func `who has the snapshot is sent nothing of a screen that rests`() {
    var world = ExactWorld()
    let snapshot = world.handOut(5)
    world.now += .seconds(9)
    world.join("a", rate: .kilobitsPerSecond(100), having: snapshot)
    let start = world.now
    world.rest()
    #expect(world.seen("a") == world.screen)
    #expect(world.encoded.isEmpty && world.pages["a"]!.received.isEmpty && world.now - start < .milliseconds(10))
    world.change(BlockRect(column: 2, row: 2, width: 3, height: 1))
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen && world.encoded.map(\.rect.area) == [3], "later changes go as ever")
  }

  @Test func `what has changed since the snapshot does not hold, and is sent`() {
    var world = ExactWorld()
    let (first, word) = (world.handOut(5), BlockRect(column: 20, row: 9, width: 5, height: 2))
    #expect(world.scheduler.wantsChanges(world.now), "whoever has it may come")
    world.now += .seconds(1)
    world.change(word)
    let second = world.handOut(6)
    world.join("a", having: first)
    world.join("b", having: second)
    for id in ["a", "b"] { while world.channels[id]?.isEmpty == false { world.receive(id) } }
    for id in ["a", "b"] { while world.videos[id]?.isEmpty == false { world.show(id) } }
    #expect(world.seen("a").count { $0 == nil } == word.area && world.seen("b") == world.screen)
    world.rest()
    #expect(world.seen("a") == world.screen && world.encoded.map(\.rect) == [word])
  }

  @Test(arguments: ["unknown", "late", "of another size", "forgotten", "one of many", "named again"])
  func `a snapshot that the caster does not know says nothing`(_ kind: String) {
    var world = ExactWorld()
    var snapshot = world.handOut(5)
    switch kind {
    case "unknown": snapshot.number = 6
    case "late": world.now += .seconds(10)
    case "of another size":
      world.change(to: PixelSize(width: 800, height: 600))
      world.change(to: PixelSize(width: 1_280, height: 720))
    case "forgotten": world.scheduler.forgetSnapshot(5)
    case "one of many": for number in 6...9 { _ = world.handOut(UInt32(number)) }
    default:
      world.join("a", having: snapshot)
      #expect(world.channels["a"]!.count == 4)
    }
    if kind == "named again" { world.ready("a", having: snapshot) } else { world.join("a", having: snapshot) }
    world.rest()
    #expect(world.seen("a") == world.screen && world.encoded.count == 6, "everything is sent")
    world.now += .seconds(11)
    world.scheduler.remove("a")
    #expect(!world.scheduler.wantsChanges(world.now), "nobody can come any more")
  }

  @Test func `a snapshot that is handed out again is known for longer`() {
    var world = ExactWorld()
    let snapshot = world.handOut(5)
    world.now += .seconds(8)
    world.change(BlockRect(column: 0, row: 0, width: 1, height: 1))
    world.scheduler.noteSnapshot(5, isNewest: false, now: world.now)
    world.scheduler.noteSnapshot(6, isNewest: false, now: world.now)
    world.now += .seconds(8)
    world.join("a", having: snapshot)
    world.join("b", having: (6, snapshot.screen))
    #expect(world.channels["a"]!.count == 5 && world.channels["b"] == nil, "of 6 nobody knows what has changed")
  }

  /// The frame that is shown, and the channel, come as they like; the page shows nothing that is older than the video.
  @Test(arguments: 1...40) func `no order of damage, frames and rectangles shows a wrong pixel`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = ExactWorld(PixelSize(width: 700, height: 300))
    world.join("a")
    var snapshots = [world.handOut(0)]
    world.join("b", rate: .megabitsPerSecond(1), having: snapshots[0])
    for step in 0..<3_000 {
      world.now += .microseconds(Int64.random(in: 0...30_000, using: &random))
      switch Int.random(in: 0..<20, using: &random) {
      case 0, 1: world.change(ExactWorld.rect(in: world.size, &random))
      case 2: world.frame()
      case 3, 4:
        world.change(ExactWorld.rect(in: world.size, &random))
        world.frame()
      case 5...9: world.work()
      case 10...12: world.finish()
      case 13 where Int.random(in: 0..<50, using: &random) == 0:
        world.change(to: PixelSize(width: Int.random(in: 17...900, using: &random), height: 333))
      case 14 where Int.random(in: 0..<20, using: &random) == 0:
        world.channels["a"] = []
        world.ready("a", having: snapshots.randomElement(using: &random))
      case 15 where Int.random(in: 0..<20, using: &random) == 0:
        snapshots.append(world.handOut(UInt32(step)))
      case 16 where Int.random(in: 0..<40, using: &random) == 0:
        world.leave("b")
        world.join("b", rate: .megabitsPerSecond(1), having: snapshots.randomElement(using: &random))
      case 13...16: for _ in 0..<5 { world.receive(Bool.random(using: &random) ? "a" : "b") }
      default: world.show(Bool.random(using: &random) ? "a" : "b")
      }
      for id in ["a", "b"] { try #require(world.staleBlock(id) == nil) }
    }
    world.frame()
    world.rest(.seconds(60))
    for id in ["a", "b"] { #expect(world.seen(id) == world.screen) }
  }
}
