import RTCPrimitives
import RTCVideoCoding
import Testing

@Suite struct ChangeHistoryTests {
  private var changes = ChangeHistory(maxFrameRate: 30)
  private var now = Timestamp.zero + .seconds(Int64(1))

  /// A change after `gap`, and how long it takes until the picture rests.
  private mutating func restTime(after gap: TimeDelta, isLarge: Bool) -> TimeDelta? {
    now += gap
    changes.note(isLarge: isLarge, now: now)
    return changes.restBegin.map { $0 - now }
  }

  private let soon = TimeDelta.seconds(1.0 / 30) + .milliseconds(5)

  @Test mutating func `what never changed rests`() {
    #expect(changes.isAtRest(now) && changes.restBegin == nil && !changes.isMoving(now))
  }

  @Test(arguments: [true, false])
  mutating func `a change that follows no other rests when a movement would have gone on`(isLarge: Bool) {
    #expect(restTime(after: .zero, isLarge: isLarge) == soon)
    #expect(restTime(after: .seconds(Int64(1)), isLarge: isLarge) == soon)
    #expect(!changes.isAtRest(now + soon - .milliseconds(1)) && changes.isAtRest(now + soon))
  }

  @Test mutating func `what is typed rests when nothing came for a while`() {
    _ = restTime(after: .zero, isLarge: false)
    #expect(restTime(after: .milliseconds(100), isLarge: false) == ChangeHistory.restTime)
    #expect(restTime(after: .milliseconds(530), isLarge: false) == soon, "a caret that blinks")
  }

  @Test mutating func `a page that is turned while something is typed is a single change`() {
    _ = restTime(after: .zero, isLarge: false)
    #expect(restTime(after: .milliseconds(100), isLarge: true) == soon)
    #expect(restTime(after: .milliseconds(100), isLarge: false) == ChangeHistory.restTime)
  }

  @Test mutating func `large changes that follow each other are a movement`() {
    _ = restTime(after: .zero, isLarge: true)
    #expect(changes.movementInterval == nil && changes.isMoving(now))
    #expect(restTime(after: .milliseconds(100), isLarge: true) == ChangeHistory.restTime)
    #expect(changes.movementInterval == .milliseconds(100) && !changes.isSlowMovement)
    _ = restTime(after: .milliseconds(200), isLarge: true)
    #expect(changes.movementInterval == .milliseconds(200) && changes.isSlowMovement)
    #expect(restTime(after: .milliseconds(600), isLarge: true) == soon)
    #expect(changes.movementInterval == nil)
  }

  @Test mutating func `five changes that follow each other within 100 ms are steady, until one does not`() {
    for _ in 0..<4 { _ = restTime(after: .milliseconds(100), isLarge: false) }
    #expect(!changes.isSteady(now))
    _ = restTime(after: .milliseconds(100), isLarge: true)
    #expect(changes.isSteady(now + .milliseconds(105)) && !changes.isSteady(now + .milliseconds(106)))
    _ = restTime(after: .milliseconds(106), isLarge: false)
    #expect(!changes.isSteady(now))
  }

  @Test mutating func `at low frame rates nothing waits longer than what moves`() {
    changes.setMaxFrameRate(1)
    #expect(restTime(after: .zero, isLarge: true) == ChangeHistory.restTime)
  }
}
