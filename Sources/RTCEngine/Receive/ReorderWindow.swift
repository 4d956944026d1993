import RTCPrimitives

/// Learns how late overtaken packets arrive, and thus how long not to request a missing one.
struct ReorderWindow {
  /// Reordering within one host or router heals by itself within this time.
  static let least = TimeDelta.milliseconds(5)
  /// Waiting longer would cost more than a needless repair.
  static let most = TimeDelta.milliseconds(40)

  /// The longest time of late, shrinking slowly.
  private var longest = TimeDelta.zero

  var value: TimeDelta { max(Self.least, min(Self.most, longest + longest / 4)) }

  /// A packet missed at `missed` came as itself, not as a repair.
  ///
  /// - Parameters:
  ///   - request: when it was last asked for. Without RTX an answer looks like the packet itself, but cannot be here
  ///     before the request was there and back.
  mutating func note(missed: Timestamp, request: Timestamp?, arrival: Timestamp, roundTrip: TimeDelta) {
    if let request, arrival - request >= roundTrip * 3 / 4 { return }
    longest = max(arrival - missed, longest)
  }

  /// A packet arrived in order: the learned delay decays a little.
  mutating func noteOrder() { longest = longest - longest / 512 }
}
