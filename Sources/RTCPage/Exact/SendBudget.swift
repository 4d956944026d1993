import RTCPrimitives

/// The budget of exact pixels for one viewer: the part of the rate that video leaves, in small steps, so that a new
/// frame is not delayed.
struct SendBudget {
  private var rate: BitRate
  /// Exact pixels sent within the last `ownSpan`.
  private var own: [(time: Timestamp, bytes: Int)] = []
  /// Bytes that may be sent; below zero after a rectangle or a frame that was larger.
  private var credit: Double
  private var updated: Timestamp

  /// Before the network has been measured.
  private static let firstRate = BitRate(bitsPerSecond: 1_000_000)
  /// Credit that is not used is kept for so long.
  private static let depth = TimeDelta.milliseconds(50)
  /// A frame of video keeps exact pixels back for so long at most: a film in a corner must not end them.
  private static let longestDebt = TimeDelta.milliseconds(500)
  /// The share of what video leaves: the rest is for the next frames, and for headers.
  private static let share = 0.8
  /// Bytes that may be on their way, as time: more would keep a message of damage waiting behind rectangles.
  private static let windowTime = TimeDelta.milliseconds(120)
  /// Or this many bytes, on slow networks: about a line of text.
  private static let leastWindow = 4_096

  init(now: Timestamp) {
    (rate, credit, updated) = (Self.firstRate, 0, now)
  }

  private var bytesPerSecond: Double { Double(rate.bitsPerSecond) / 8 * Self.share }

  /// - Parameter new: the bandwidth, minus the exact pixels of the last second.
  mutating func setRate(_ new: BitRate, now: Timestamp) {
    refill(now)
    own.removeAll { $0.time <= now - Self.ownSpan }
    let taken = own.reduce(0) { $0 + $1.bytes } * 8
    rate = BitRate(bitsPerSecond: max(50_000, new.bitsPerSecond + Int64(taken)))
  }
  /// The interval over which the rate of data channels is measured.
  private static let ownSpan = TimeDelta.seconds(1)

  mutating func spend(_ bytes: Int, now: Timestamp) {
    refill(now)
    credit -= Double(bytes)
    own.removeAll { $0.time <= now - Self.ownSpan }
    own.append((now, bytes))
  }

  /// Spends bytes of a message with priority: it may make the credit negative down to this limit.
  mutating func spendFirst(_ bytes: Int, now: Timestamp) {
    refill(now)
    let floor = min(credit, -Self.longestDebt.seconds * bytesPerSecond)
    credit = max(floor, credit - Double(bytes))
  }

  /// The bytes of new pixels that may be sent for pictures that moved, whatever the video has taken: they replace it.
  func patchBytes(_ now: Timestamp) -> Int {
    let taken = own.reduce(0) { $0 + ($1.time > now - Self.ownSpan ? $1.bytes : 0) }
    return Int(Self.ownSpan.seconds * Double(rate.bitsPerSecond) / 8 * Self.patchShare) - taken
  }
  /// The share of the bandwidth for them.
  private static let patchShare = 0.8

  /// Spends bytes of a picture that moved.
  mutating func spendMove(_ bytes: Int, now: Timestamp) {
    spendFirst(bytes, now: now)
    own.removeAll { $0.time <= now - Self.ownSpan }
    own.append((now, bytes))
  }

  private mutating func refill(_ now: Timestamp) {
    guard now > updated else { return }
    credit = min(Self.depth.seconds * bytesPerSecond, credit + (now - updated).seconds * bytesPerSecond)
    updated = now
  }

  /// Bytes that may be on their way.
  var window: Int { max(Self.leastWindow, Int(Self.windowTime.seconds * bytesPerSecond)) }

  /// When there is credit again.
  var nextTurn: Timestamp { credit >= 0 ? updated : updated + .seconds(-credit / bytesPerSecond) }

  /// Below 8 Mbit/s a rectangle takes longer to send than to encode well.
  var isSlow: Bool { rate < BitRate(bitsPerSecond: 8_000_000) }
}
