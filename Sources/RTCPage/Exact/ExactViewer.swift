import RTCPrimitives

/// One viewer of exact pixels: the valid pixels sent to it, and its budget.
struct ExactViewer {
  /// The viewer's RTP timestamp of the monotonic clock's origin.
  let clock: RTPTimestamp
  /// The page is open and can be seen.
  private(set) var isVisible = false
  /// Whether its network answers.
  var isReachable = true
  /// The blocks that it has, or that are on their way to it, as the newest picture has them.
  private(set) var held: BlockSet
  /// Whether it was sent the picture's size.
  private var hasBegun = false
  /// All frames up to this time are covered by messages.
  private var told: Timestamp?
  private var budget: SendBudget
  /// The rectangles on their way, the oldest first.
  private var underway: [(number: UInt32, bytes: Int)] = []
  /// When something was acknowledged last, or sent while nothing was on its way.
  private var lastProgress: Timestamp
  private var nextNumber: UInt32 = 1
  /// Whether it has named a snapshot that it had: only the first counts.
  private var hasAdopted = false
  /// All rectangles that it was sent.
  private var sent: (rectangles: UInt64, bytes: UInt64) = (0, 0)

  /// Maximum number of rectangles in flight, whatever their size.
  private static let maximumUnderway = 256

  init(clock: RTPTimestamp, size: PixelSize, now: Timestamp) {
    self.clock = clock
    held = BlockSet(size)
    lastProgress = now
    budget = SendBudget(now: now)
  }

  // MARK: - Messages

  /// A picture of this size from `time` on, of which it has nothing.
  /// - Returns: what to send.
  mutating func begin(_ size: PixelSize, _ time: Timestamp) -> [UInt8]? {
    defer { forget(size) }
    guard hasBegun, !held.isEmpty else { return nil }
    return ExactMessage.void(timestamp(time), [held.whole])
  }

  private mutating func forget(_ size: PixelSize) {
    held = BlockSet(size)
    hasBegun = false
  }

  /// The page became visible or hidden. A hidden page gets no messages, and starts again when it is visible.
  mutating func setVisible(_ isVisible: Bool) {
    self.isVisible = isVisible
    forget(held.size)
    underway = []
  }

  /// The viewer has the picture of `time` from a snapshot, except for these blocks.
  /// - Returns: the messages, in order.
  mutating func adopt(but changed: BlockSet, _ time: Timestamp) -> [[UInt8]] {
    guard !hasAdopted, changed.size == held.size else { return [] }
    let rects = changed.rects(limit: ExactMessage.maximumVoids)
    var rest = BlockSet.all(of: held.size)
    for rect in rects { rest.remove(rect) }
    guard !rest.isEmpty else { return [] }
    hasAdopted = true
    (held, hasBegun, told) = (rest, true, time)
    return [ExactMessage.begin(timestamp(time), held.size), ExactMessage.snapshot(timestamp(time), changed: rects)]
  }

  /// These blocks are others from `time` on.
  /// - Returns: what to send.
  mutating func void(_ changed: BlockSet, _ time: Timestamp) -> [UInt8]? {
    guard hasBegun, held.intersects(changed) else { return nil }
    var lost = held
    lost.formIntersection(changed)
    let rects = lost.rects(limit: ExactMessage.maximumVoids)
    for rect in rects { held.remove(rect) }
    told = time
    return ExactMessage.void(timestamp(time), rects)
  }

  /// A frame is sent whose changes are covered by messages.
  mutating func frame(_ time: Timestamp) -> [UInt8]? {
    guard hasBegun, !held.isEmpty, told.map({ $0 < time }) ?? true else { return nil }
    told = time
    return ExactMessage.void(timestamp(time), [])
  }

  /// - Parameters:
  ///   - webP: the blocks of `rect` in the newest picture.
  ///   - time: the time of the newest frame or picture.
  /// - Returns: the messages, in order.
  mutating func send(_ rect: BlockRect, _ webP: [UInt8], _ time: Timestamp, now: Timestamp) -> [[UInt8]] {
    var messages: [[UInt8]] = []
    if !hasBegun {
      messages.append(ExactMessage.begin(timestamp(time), held.size))
      (hasBegun, told) = (true, time)
    } else if told.map({ $0 < time }) ?? true {
      messages.append(ExactMessage.void(timestamp(time), []))
      told = time
    }
    let message = ExactMessage.rectangle(
      timestamp(time), number: nextNumber, rect.pixels(in: held.size), webP: webP)
    held.insert(rect)
    if underway.isEmpty { lastProgress = now }
    underway.append((nextNumber, message.count))
    nextNumber &+= 1
    sent = (sent.rectangles + 1, sent.bytes + UInt64(message.count))
    budget.spend(message.count, now: now)
    messages.append(message)
    return messages
  }

  private func timestamp(_ time: Timestamp) -> RTPTimestamp {
    RTPTimestamp(RTPTimestamp(video: time).value &+ clock.value)
  }

  /// The smallest rectangle with all missing blocks of `tile`; nil if there are none.
  func lacks(in tile: BlockRect) -> BlockRect? { held.missing(in: tile) }

  // MARK: - How much

  /// Sets the bandwidth for video and exact pixels together, minus the exact pixels of the last second.
  mutating func setRate(_ rate: BitRate, now: Timestamp) { budget.setRate(rate, now: now) }

  /// Video takes this from what there is.
  mutating func noteVideo(bytes: Int, now: Timestamp) { budget.spendFirst(bytes, now: now) }

  /// Takes an acknowledgement; unknown numbers are ignored.
  mutating func acknowledge(_ number: UInt32, now: Timestamp) {
    guard let index = underway.firstIndex(where: { $0.number == number }) else { return }
    underway.removeSubrange(...index)
    lastProgress = now
  }

  /// Whether it acknowledges nothing: its network or its page has stopped.
  func isStuck(_ now: Timestamp) -> Bool { !underway.isEmpty && now - lastProgress > Self.patience }
  private static let patience = TimeDelta.seconds(1)

  /// When the next rectangle may be sent, as far as time alone decides; nil: when something is acknowledged.
  func nextTurn() -> Timestamp? {
    guard underway.count < Self.maximumUnderway, unacknowledgedBytes <= budget.window else { return nil }
    return budget.nextTurn
  }

  private var unacknowledgedBytes: Int { underway.reduce(0) { $0 + $1.bytes } }

  /// - Parameter left: the blocks that are left to the video.
  func statistics(leaving left: BlockSet) -> ExactViewerStatistics {
    var statistics = ExactViewerStatistics()
    statistics.isVisible = isVisible
    let blocks = Double(max(1, held.whole.area))
    statistics.share = Double(held.count) / blocks
    var lacking = left
    if left.size == held.size { lacking.subtract(held) }
    statistics.videoShare = Double(lacking.count) / blocks
    (statistics.rectangles, statistics.bytes) = sent
    statistics.unacknowledgedBytes = unacknowledgedBytes
    return statistics
  }

  /// The number of tiles that may be sent as one rectangle: it delays later ones no longer than all rectangles in
  /// flight may.
  var mostTiles: Int { max(1, budget.window / Self.tileBytes) }
  /// Bytes of a tile full of text, beside others.
  private static let tileBytes = 6_000

  /// Bytes cost more time than encoding does.
  var isSlow: Bool { budget.isSlow }
}

/// How much of the picture one viewer has exactly, and why not more.
package struct ExactViewerStatistics: Hashable, Sendable {
  /// The page can be seen, and so is sent anything.
  package var isVisible = false
  /// The share of the picture, 0…1, that is exact or on its way.
  package var share = 0.0
  /// The share of the picture, 0…1, that is missing and left to the video because it would take too many bytes.
  package var videoShare = 0.0
  /// Rectangles that it was sent.
  package var rectangles: UInt64 = 0
  /// Bytes of these, headers included.
  package var bytes: UInt64 = 0
  /// Bytes of these that are not acknowledged yet.
  package var unacknowledgedBytes = 0

  package init() {}
}
