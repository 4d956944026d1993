import RTCPrimitives

/// Gathers packets that left together into groups and compares how far apart two groups left and arrived
/// (draft-ietf-rmcat-gcc-02 §5.2).
struct InterArrival {
  /// Between the last packets of two groups.
  struct Delta {
    var sent: TimeDelta
    var arrived: TimeDelta
    /// When the later group had arrived.
    var arrival: Int64
  }

  /// Packets that leave within this time are one group.
  static let groupTime = TimeDelta.milliseconds(5)
  /// A burst of packets that arrive together belongs to one group, up to this length.
  private static let longestBurst = TimeDelta.milliseconds(100)

  private struct Group {
    var firstSent: Int64
    var lastSent: Int64
    var firstArrived: Int64
    var lastArrived: Int64

    init(_ arrival: RecentArrivals.Arrival) {
      (firstSent, lastSent) = (arrival.sent, arrival.sent)
      (firstArrived, lastArrived) = (arrival.arrived, arrival.arrived)
    }
  }

  private var current: Group?
  private var previous: Group?

  /// Takes the next packet, in the order in which they left.
  /// - Returns: the step between the two groups before, when this packet begins another.
  mutating func add(_ arrival: RecentArrivals.Arrival) -> Delta? {
    guard var group = current else {
      current = Group(arrival)
      return nil
    }
    if belongs(arrival, to: group) {
      group.lastSent = max(group.lastSent, arrival.sent)
      group.lastArrived = max(group.lastArrived, arrival.arrived)
      current = group
      return nil
    }
    defer {
      previous = group
      current = Group(arrival)
    }
    guard let previous else { return nil }
    let delta = Delta(
      sent: TimeDelta(nanoseconds: group.lastSent &- previous.lastSent),
      arrived: TimeDelta(nanoseconds: group.lastArrived &- previous.lastArrived), arrival: group.lastArrived)
    return delta.arrived >= .zero ? delta : nil  // groups that overtook one another say nothing
  }

  private func belongs(_ arrival: RecentArrivals.Arrival, to group: Group) -> Bool {
    if arrival.sent &- group.firstSent <= Self.groupTime.nanoseconds { return true }
    let arrived = arrival.arrived &- group.lastArrived
    let sent = arrival.sent &- group.lastSent
    return arrived < sent && arrived <= Self.groupTime.nanoseconds
      && arrival.arrived &- group.firstArrived < Self.longestBurst.nanoseconds
  }

  mutating func reset() { self = InterArrival() }
}
