import RTCPrimitives

/// How long it takes for feedback on a packet to come.
struct FeedbackTimes {
  /// The least of one to two of these times counts.
  private static let memory = TimeDelta.seconds(10)

  private struct Least {
    var newer: TimeDelta?
    var older: TimeDelta?

    var value: TimeDelta? {
      guard let newer else { return older }
      return older.map { min($0, newer) } ?? newer
    }

    mutating func add(_ time: TimeDelta) { newer = newer.map { min($0, time) } ?? time }

    mutating func turn() {
      older = newer ?? older
      newer = nil
    }
  }

  private(set) var hasFeedback = false
  /// When feedback came last.
  private(set) var last = Timestamp.zero
  private var newest = Least()
  private var oldest = Least()
  private var turned = Timestamp.zero

  /// Feedback spoke of packets that left from `oldest` to `newest`.
  mutating func add(oldest: Timestamp, newest: Timestamp, _ now: Timestamp) {
    if now - turned > Self.memory {
      self.newest.turn()
      self.oldest.turn()
      turned = now
    }
    hasFeedback = true
    last = now
    self.newest.add(max(.zero, now - newest))
    self.oldest.add(max(.zero, now - oldest))
  }

  /// From the departure of a packet to the feedback that follows its arrival at once; nil before any.
  var roundTrip: TimeDelta? { newest.value }
  /// From the departure of a packet to its feedback, which waits for others; nil before any.
  var responseTime: TimeDelta? { oldest.value.map { min($0, .seconds(5)) } }

  mutating func reset() { self = FeedbackTimes() }
}
