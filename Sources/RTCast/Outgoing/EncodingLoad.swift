import RTCPrimitives

/// Whether two encodes keep up with the source: when they take more than 80 % of the time between two pictures, the side
/// rung's frame rate is halved, until all of it would fit into 60 %.
package struct EncodingLoad {
  private static let window = TimeDelta.seconds(2)
  private var start: Timestamp?
  private var main = (work: TimeDelta.zero, count: Int64(0))
  private var side = (work: TimeDelta.zero, count: Int64(0))
  /// Every other picture is left out for the side rung.
  package private(set) var isHalved = false

  package init() {}

  /// Records the time for converting and encoding a picture, for the main rung and for the side rung; nil: not encoded
  /// for it.
  /// - Parameter interval: between two pictures of the source.
  package mutating func note(main: TimeDelta, side: TimeDelta?, interval: TimeDelta, now: Timestamp) {
    self.main = (self.main.work + main, self.main.count + 1)
    if let side { self.side = (self.side.work + side, self.side.count + 1) }
    guard let start else { return start = now }
    guard now - start >= Self.window else { return }
    if self.side.count > 0 {
      let both = (self.main.work / self.main.count).seconds + (self.side.work / self.side.count).seconds
      // At a low frame rate there is time enough, however long a picture takes.
      let spacing = max(interval.seconds, (now - start).seconds / Double(self.main.count))
      isHalved = both > spacing * (isHalved ? 0.6 : 0.8)
    }
    self = EncodingLoad(isHalved: isHalved, start: now)
  }

  /// The side rung has no viewer.
  package mutating func rest() { self = EncodingLoad() }

  private init(isHalved: Bool, start: Timestamp) {
    self.isHalved = isHalved
    self.start = start
  }
}
