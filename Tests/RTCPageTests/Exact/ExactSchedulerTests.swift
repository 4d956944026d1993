import RTCPage
import RTCPrimitives
import Testing

/// A screen, the machine and viewers, on virtual time. Blocks have numbers in the place of pixels.
private struct World {
  var scheduler = ExactScheduler()
  var now = Timestamp.zero + .seconds(100)
  private(set) var size: PixelSize
  /// The content of the screen, by block.
  private(set) var screen: [Int] = []
  private var count = 0
  private(set) var job: (job: ExactScheduler.Job, webP: [UInt8])?
  /// The messages on their way to each viewer: on the channel, and as video.
  var channels: [String: [[UInt8]]] = [:]
  var videos: [String: [(timestamp: UInt32, blocks: [Int])]] = [:]
  var pages: [String: PageModel] = [:]
  var shown: [String: (timestamp: UInt32, blocks: [Int])] = [:]
  let clock = RTPTimestamp(4_294_000_000)
  private(set) var encoded: [ExactScheduler.Job] = []
  var costly: Set<Int> = []

  init(_ size: PixelSize = PixelSize(width: 1_280, height: 720)) {
    self.size = size
    change(to: size)
  }

  mutating func change(to size: PixelSize) {
    self.size = size
    var all = BlockSet(size)
    all.insertAll()
    screen = Array(repeating: 0, count: all.columns * all.rows)
    change(all)
  }

  /// A picture that differs in these blocks, and the frame that shows it.
  mutating func change(_ blocks: BlockSet) {
    for row in 0..<blocks.rows {
      for column in 0..<blocks.columns where blocks.contains(column: column, row: row) {
        count = (count + 1) % 60_000
        screen[row * blocks.columns + column] = count
      }
    }
    var out: [ExactScheduler.Delivery] = []
    scheduler.take(blocks, captureTime: now, now: now, into: &out)
    deliver(out)
  }

  mutating func change(_ rect: BlockRect) {
    var blocks = BlockSet(size)
    blocks.insert(rect)
    change(blocks)
  }

  mutating func frame(bytes: Int = 500) {
    var out: [ExactScheduler.Delivery] = []
    scheduler.frame(now, bytes: bytes, now: now, into: &out)
    deliver(out)
    for id in pages.keys { videos[id, default: []].append((RTPTimestamp(video: now).value &+ clock.value, screen)) }
  }

  private mutating func deliver(_ out: [ExactScheduler.Delivery]) {
    for delivery in out { channels[delivery.viewer, default: []].append(delivery.message) }
  }

  /// - Parameter snapshot: that it has, and names.
  mutating func join(
    _ id: String, rate: BitRate = .megabitsPerSecond(20), having snapshot: (number: UInt32, screen: [Int])? = nil
  ) {
    pages[id] = PageModel()
    scheduler.add(id, clock: clock, rate: rate, now: now)
    ready(id, having: snapshot)
    frame()
  }

  mutating func leave(_ id: String) {
    scheduler.remove(id)
    (channels[id], videos[id], shown[id]) = (nil, nil, nil)
  }

  /// The page begins anew. What was on its way to it still comes.
  mutating func ready(_ id: String, having snapshot: (number: UInt32, screen: [Int])? = nil) {
    pages[id]?.forget()
    if let snapshot { pages[id]?.snapshot = snapshot.screen }
    handle(.ready(isVisible: true, snapshot: snapshot?.number), from: id)
  }

  mutating func handle(_ message: ExactViewerMessage, from id: String) {
    var out: [ExactScheduler.Delivery] = []
    scheduler.handle(message, from: id, now: now, into: &out)
    deliver(out)
  }

  /// Somebody is handed the whole picture as it is now.
  mutating func handOut(_ number: UInt32) -> (number: UInt32, screen: [Int]) {
    scheduler.noteSnapshot(number, isNewest: true, now: now)
    return (number, screen)
  }

  /// Begins what is to be encoded, unless something is being encoded.
  /// - Returns: when there is something to do next.
  @discardableResult
  mutating func work() -> Timestamp? {
    guard job == nil else { return now }
    var out: [ExactScheduler.Delivery] = []
    let step = scheduler.next(now, into: &out)
    deliver(out)
    switch step {
    case .wait(let time): return time
    case .encode(let new):
      let columns = BlockSet(size).columns
      var webP: [UInt8] = []
      for row in new.rect.row..<new.rect.endRow {
        for column in new.rect.column..<new.rect.endColumn {
          let number = screen[row * columns + column]
          webP += [UInt8(number >> 8), UInt8(number & 255)]
        }
      }
      job = (new, webP)
      encoded.append(new)
      return now
    }
  }

  mutating func finish() {
    guard let done = job else { return }
    job = nil
    scheduler.finish(done.job, costly.contains(done.job.rect.row) ? nil : done.webP)
  }

  /// One message of the channel arrives.
  mutating func receive(_ id: String, acknowledges: Bool = true) {
    guard channels[id]?.isEmpty == false, let message = channels[id]?.removeFirst() else { return }
    if let number = pages[id]?.take(message), acknowledges {
      handle(.acknowledgement(number), from: id)
    }
  }

  mutating func show(_ id: String) {
    guard videos[id]?.isEmpty == false else { return }
    shown[id] = videos[id]?.removeFirst()
  }

  /// Goes on until nothing is left to do, at most for so long.
  mutating func rest(_ time: TimeDelta = .seconds(20)) {
    let end = now + time
    while now < end {
      let next = work()
      finish()
      let isQuiet = channels.values.allSatisfy(\.isEmpty)
      for id in pages.keys {
        while channels[id]?.isEmpty == false { receive(id) }
        while videos[id]?.isEmpty == false { show(id) }
      }
      if let next {
        now = max(next, now + .milliseconds(1))
      } else if isQuiet {
        return
      } else {
        now += .milliseconds(1)
      }
    }
  }

  func seen(_ id: String) -> [Int?] { pages[id]!.shown(upon: shown[id]?.timestamp) }
}

@Suite struct `What is sent exactly, when, and to whom` {
  @Test func `a screen that rests is all there, encoded once for all viewers`() {
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World(PixelSize(width: 320, height: 160))
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
    var world = World(PixelSize(width: 320, height: 160))
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
    world.join("a")
    world.rest()
    world.change(to: PixelSize(width: 800, height: 601))
    world.frame()
    world.rest()
    #expect(world.seen("a") == world.screen)
  }

  @Test func `video comes first, and what is on its way is bounded`() {
    var world = World()
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
    var world = World()
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
    var world = World()
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
    var world = World()
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
      #expect(world.channels["a"]!.count == 2)
    }
    if kind == "named again" { world.ready("a", having: snapshot) } else { world.join("a", having: snapshot) }
    world.rest()
    #expect(world.seen("a") == world.screen && world.encoded.count == 6, "everything is sent")
    world.now += .seconds(11)
    world.scheduler.remove("a")
    #expect(!world.scheduler.wantsChanges(world.now), "nobody can come any more")
  }

  @Test func `a snapshot that is handed out again is known for longer`() {
    var world = World()
    let snapshot = world.handOut(5)
    world.now += .seconds(8)
    world.change(BlockRect(column: 0, row: 0, width: 1, height: 1))
    world.scheduler.noteSnapshot(5, isNewest: false, now: world.now)
    world.scheduler.noteSnapshot(6, isNewest: false, now: world.now)
    world.now += .seconds(8)
    world.join("a", having: snapshot)
    world.join("b", having: (6, snapshot.screen))
    #expect(world.channels["a"]!.count == 3 && world.channels["b"] == nil, "of 6 nobody knows what has changed")
  }

  /// The frame that is shown, and the channel, come as they like; the page shows nothing that is older than the video.
  @Test(arguments: 1...40) func `no order of damage, frames and rectangles shows a wrong pixel`(_ seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    var world = World(PixelSize(width: 700, height: 300))
    world.join("a")
    var snapshots = [world.handOut(0)]
    world.join("b", rate: .megabitsPerSecond(1), having: snapshots[0])
    for step in 0..<3_000 {
      world.now += .microseconds(Int64.random(in: 0...30_000, using: &random))
      switch Int.random(in: 0..<20, using: &random) {
      case 0, 1: world.change(Self.rect(in: world.size, &random))
      case 2: world.frame()
      case 3, 4:
        world.change(Self.rect(in: world.size, &random))
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
      for id in ["a", "b"] { try Self.check(world, id) }
    }
    world.frame()
    world.rest(.seconds(60))
    for id in ["a", "b"] { #expect(world.seen(id) == world.screen) }
  }

  private static func check(_ world: World, _ id: String) throws {
    guard let frame = world.shown[id] else { return }
    // Numbers grow with each change, but for the turn at 60,000.
    let wrong = zip(world.seen(id), frame.blocks).first { seen, shown in
      seen.map { $0 < shown && shown - $0 < 30_000 } ?? false
    }
    try #require(wrong == nil)
  }

  private static func rect(in size: PixelSize, _ random: inout SeededGenerator) -> BlockRect {
    let grid = BlockSet(size)
    let (column, row) = (
      Int.random(in: 0..<grid.columns, using: &random), Int.random(in: 0..<grid.rows, using: &random)
    )
    return BlockRect(
      column: column, row: row, width: Int.random(in: 1...max(1, (grid.columns - column) / 2 + 1), using: &random),
      height: Int.random(in: 1...max(1, (grid.rows - row) / 2 + 1), using: &random))
  }
}
