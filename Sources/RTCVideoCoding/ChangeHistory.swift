package import RTCPrimitives

/// When the picture changed, and so whether it moves or rests: what encoders of screens decide by. A machine without clock.
package struct ChangeHistory {
  /// Large changes closer to each other than this are one movement.
  private static let movementGap = TimeDelta.milliseconds(600)
  /// A change after at least this time belongs neither to a movement nor to typing: a caret blinks, a clock ticks, a
  /// page is turned.
  private static let singleGap = TimeDelta.milliseconds(400)
  /// A movement or typing has ended when no change came for this time.
  package static let restTime = TimeDelta.milliseconds(250)
  /// The tolerance beyond the interval of frames: the next step of a movement would have come by then.
  private static let margin = TimeDelta.milliseconds(5)
  /// Steps that are farther apart leave time to think about each.
  private static let slowStep = TimeDelta.milliseconds(120)

  /// The shortest time between two frames.
  package private(set) var frameInterval: TimeDelta
  /// When changes were coded last, large or small.
  package private(set) var last: Timestamp?
  /// When a large change was coded last.
  package private(set) var lastLarge: Timestamp?
  /// From the large change before the last to the last; nil when they are no movement.
  package private(set) var movementInterval: TimeDelta?
  /// Changes that follow each other within this time are shown as they come: a clock with fractions of seconds, a film.
  private static let steadyGap = TimeDelta.milliseconds(100)
  /// So many such changes are no chance.
  private static let steadyCount = 4

  /// The number of changes that each followed the one before within `steadyGap`, up to `steadyCount`.
  private var followers = 0
  /// The last change followed no other.
  private var isSingle = false

  /// - Parameter maxFrameRate: pictures a second, at most.
  package init(maxFrameRate: Double) { frameInterval = Self.interval(of: maxFrameRate) }

  /// Sets the maximum rate of further changes.
  package mutating func setMaxFrameRate(_ rate: Double) { frameInterval = Self.interval(of: rate) }

  private static func interval(of frameRate: Double) -> TimeDelta { .seconds(1 / max(1, frameRate)) }

  /// Changes were coded.
  ///
  /// - Parameter isLarge: it is a step of a movement, or a new picture.
  package mutating func note(isLarge: Bool, now: Timestamp) {
    followers =
      last.map { now - $0 <= Self.steadyGap + Self.margin } ?? false ? min(followers + 1, Self.steadyCount) : 0
    isSingle = isLarge ? !isMoving(now) : last.map { now - $0 >= Self.singleGap } ?? true
    if isLarge {
      movementInterval = isMoving(now) ? lastLarge.map { now - $0 } : nil
      lastLarge = now
    }
    last = now
  }

  /// Whether something changes ten times a second or more, and a change at `now` would go on with it.
  package func isSteady(_ now: Timestamp) -> Bool {
    followers == Self.steadyCount && last.map { now - $0 <= Self.steadyGap + Self.margin } ?? false
  }

  /// Whether a large change at `now` would continue a movement.
  package func isMoving(_ now: Timestamp) -> Bool { lastLarge.map { now - $0 < Self.movementGap } ?? false }

  /// The steps of the movement are few enough to think about each.
  package var isSlowMovement: Bool { movementInterval.map { $0 > Self.slowStep } ?? false }

  /// When what changed last rests; nil before any change.
  package var restBegin: Timestamp? { last.map { $0 + restTime } }

  /// Whether no change came for longer than a movement's interval.
  package func isAtRest(_ now: Timestamp) -> Bool { restBegin.map { now >= $0 } ?? true }

  /// A change that follows no other is refined as soon as the next step would have come, were it a movement.
  private var restTime: TimeDelta { isSingle ? min(Self.restTime, frameInterval + Self.margin) : Self.restTime }
}
