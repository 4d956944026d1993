import RTCPage
import RTCPrimitives

/// A screen, the machine and viewers, on virtual time. Blocks have numbers in the place of pixels.
struct ExactWorld {
  var scheduler = ExactScheduler()
  var now = Timestamp.zero + .seconds(100)
  private(set) var size: PixelSize
  /// The content of the screen, by block.
  private(set) var screen: [Int] = []
  private var count = 0
  private(set) var job: (job: ExactScheduler.Job, webP: [UInt8])?
  /// The messages on their way to each viewer: on the channel, and as video.
  var channels: [String: [[UInt8]]] = [:]
  var videos: [String: [Frame]] = [:]
  var pages: [String: PageModel] = [:]
  var shown: [String: Frame] = [:]
  let clock = RTPTimestamp(4_294_000_000)
  private(set) var encoded: [ExactScheduler.Job] = []
  var costly: Set<Int> = []
  var encodesPatches = true
  /// The cells that were hashed.
  private(set) var hashed = 0
  /// The contents of each block, the oldest first, and the change with which each began; for each number of columns and
  /// rows that the picture has had.
  private var histories: [[Int]: [[(change: Int, content: Int)]]] = [:]
  private var changes = 0

  struct Frame {
    var timestamp: UInt32
    var blocks: [Int]
    fileprivate var grid: [Int]
    /// The number of changes before it.
    fileprivate var change: Int
  }

  init(_ size: PixelSize = PixelSize(width: 1_280, height: 720)) {
    self.size = size
    change(to: size)
  }

  mutating func change(to size: PixelSize) {
    self.size = size
    let all = BlockSet.all(of: size)
    screen = Array(repeating: 0, count: all.columns * all.rows)
    if histories[Self.grid(size)] == nil { histories[Self.grid(size)] = Array(repeating: [], count: screen.count) }
    change(all)
  }

  /// A picture that differs in these blocks.
  mutating func change(_ blocks: BlockSet) {
    var new = screen
    for row in 0..<blocks.rows {
      for column in 0..<blocks.columns where blocks.contains(column: column, row: row) {
        count = (count + 1) % 60_000
        new[row * blocks.columns + column] = count
      }
    }
    show(new)
  }

  /// A picture in which the blocks of `rect` are those that were `columns` to the left and `rows` above. What comes from
  /// outside the picture is new.
  /// - Parameter isSeen: whether the caster finds out what moved.
  mutating func move(_ rect: BlockRect, columns: Int, rows: Int, isSeen: Bool = true) {
    let grid = BlockSet(size)
    let side = BlockSet.blockSize
    func content(_ column: Int, _ row: Int) -> Int? {
      guard 0..<grid.columns ~= column, 0..<grid.rows ~= row else { return nil }
      return screen[row * grid.columns + column]
    }
    var (new, patched) = (screen, BlockSet(size))
    for row in rect.row..<rect.endRow {
      for column in rect.column..<rect.endColumn {
        let block = BlockRect(column: column, row: row, width: 1, height: 1)
        // Blocks at the edge have another size.
        let isWhole = block.pixels(in: size).area == side * side
        let source = BlockRect(column: column - columns, row: row - rows, width: 1, height: 1)
        let isFromWhole = source.pixels(in: size).area == side * side
        if isWhole, isFromWhole, let content = content(source.column, source.row) {
          new[row * grid.columns + column] = content
        } else {
          count = (count + 1) % 60_000
          new[row * grid.columns + column] = count
          patched.insert(block)
        }
      }
    }
    var moved = BlockSet(size)
    moved.insert(rect)
    moved.subtract(patched)
    let moves = moved.rects(limit: 64).map { PictureMove($0.pixels(in: size), dx: columns * side, dy: rows * side) }
    let patches = patched.rects(limit: 64)
    guard isSeen else { return show(new) }
    show(
      new, by: MovedPicture(moves: moves, moved: moved, patches: patches.map { $0.pixels(in: size) }))
  }

  private func differences(_ new: [Int]) -> BlockSet {
    var blocks = BlockSet(size)
    for block in new.indices where new[block] != screen[block] {
      blocks.insert(column: block % blocks.columns, row: block / blocks.columns)
    }
    return blocks
  }

  /// A picture that differs in these blocks, whose content is sent at once.
  mutating func patch(_ rect: BlockRect) {
    let grid = BlockSet(size)
    var new = screen
    for row in rect.row..<rect.endRow {
      for column in rect.column..<rect.endColumn {
        count = (count + 1) % 60_000
        new[row * grid.columns + column] = count
      }
    }
    show(new, by: MovedPicture(moves: [], moved: grid, patches: [rect.pixels(in: size)]))
  }

  /// A picture of the same size with this content, which follows from the one before by moves and patches.
  private mutating func show(_ new: [Int], by picture: MovedPicture) {
    var picture = picture
    let columns = BlockSet(size).columns
    scheduler.choosePatches(of: &picture, differences(new), now)
    let encodesPatches = encodesPatches
    picture.encode { rect in
      guard encodesPatches else { return nil }
      let blocks = BlockRect(covering: rect)
      var bytes: [UInt8] = []
      for row in blocks.row..<blocks.endRow {
        for content in new[row * columns + blocks.column..<row * columns + blocks.endColumn] {
          bytes += [UInt8(content >> 8), UInt8(content & 255)]
        }
      }
      return bytes
    }
    show(new, moved: picture)
  }

  /// A picture of the same size with this content.
  mutating func show(_ new: [Int], moved: MovedPicture? = nil) {
    let blocks = differences(new)
    changes += 1
    for block in new.indices where new[block] != screen[block] {
      histories[Self.grid(size)]?[block].append((changes, new[block]))
    }
    screen = new
    var out: [ExactScheduler.Delivery] = []
    scheduler.take(blocks, moved: moved, captureTime: now, now: now, into: &out)
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
    let frame = Frame(
      timestamp: RTPTimestamp(video: now).value &+ clock.value, blocks: screen, grid: Self.grid(size), change: changes)
    for id in pages.keys { videos[id, default: []].append(frame) }
  }

  private mutating func deliver(_ out: [ExactScheduler.Delivery]) {
    for delivery in out { channels[delivery.viewer, default: []].append(delivery.message) }
  }

  /// - Parameters:
  ///   - snapshot: that it has, and names.
  ///   - slots: the number of cells that it keeps; nil: it is an older page.
  ///   - follows: whether it copies what moved.
  mutating func join(
    _ id: String, rate: BitRate = .megabitsPerSecond(20), having snapshot: (number: UInt32, screen: [Int])? = nil,
    slots: Int? = nil, follows: Bool = false
  ) {
    pages[id] = PageModel()
    pages[id]?.slots = slots
    pages[id]?.follows = follows
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
    let wake = recall()
    var out: [ExactScheduler.Delivery] = []
    let step = scheduler.next(now, into: &out)
    deliver(out)
    switch step {
    case .wait(let time): return [time, wake].compactMap(\.self).min()
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

  /// Hashes cells, and names those that pages keep.
  @discardableResult
  mutating func recall() -> Timestamp? {
    while true {
      var out: [ExactScheduler.Delivery] = []
      let recall = scheduler.recall(now, into: &out)
      deliver(out)
      guard case .hash(let cells) = recall else {
        guard case .wait(let wake) = recall else { return nil }
        return wake
      }
      hashed += cells.count
      scheduler.finish(cells, cells.map { hash($0.rect) })
    }
  }

  private func hash(_ rect: BlockRect) -> UInt64 {
    let columns = BlockSet(size).columns
    var hash = UInt64(rect.width * 1_000 + rect.height)
    for row in rect.row..<rect.endRow {
      for column in rect.column..<rect.endColumn {
        hash = (hash ^ UInt64(screen[row * columns + column])) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
      }
    }
    return hash
  }

  mutating func finish() {
    guard let done = job else { return }
    job = nil
    scheduler.finish(done.job, costly.contains(done.job.rect.row) ? nil : done.webP)
  }

  /// One message of the channel arrives.
  mutating func receive(_ id: String, acknowledges: Bool = true) {
    guard channels[id]?.isEmpty == false, let message = channels[id]?.removeFirst() else { return }
    if let answer = pages[id]?.take(message), acknowledges { handle(answer, from: id) }
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

  /// A block that shows what the screen showed only before the frame of the video that is seen; nil: none does.
  func staleBlock(_ id: String) -> Int? {
    guard let frame = shown[id], let page = pages[id], page.columns > 0 else { return nil }
    let seen = seen(id)
    let grid = [page.columns, seen.count / page.columns]
    guard grid == frame.grid, let history = histories[grid] else { return nil }
    return zip(seen, frame.blocks).enumerated().first { block, contents in
      guard let seen = contents.0, seen != contents.1 else { return false }
      return !history[block].reversed().prefix { $0.change > frame.change }.contains { $0.content == seen }
    }?.offset
  }

  private static func grid(_ size: PixelSize) -> [Int] { [BlockSet(size).columns, BlockSet(size).rows] }

  /// Somewhere in a picture of this size.
  static func rect(in size: PixelSize, _ random: inout SeededGenerator) -> BlockRect {
    let grid = BlockSet(size)
    let (column, row) = (
      Int.random(in: 0..<grid.columns, using: &random), Int.random(in: 0..<grid.rows, using: &random)
    )
    return BlockRect(
      column: column, row: row, width: Int.random(in: 1...max(1, (grid.columns - column) / 2 + 1), using: &random),
      height: Int.random(in: 1...max(1, (grid.rows - row) / 2 + 1), using: &random))
  }
}
