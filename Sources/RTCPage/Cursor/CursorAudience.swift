package import RTCPrimitives

/// The viewers of a cast, and the place of the pointer for them: in the picture as soon as one viewer needs it there,
/// and drawn by the viewers while all of them do that. One picture is captured for all, so the cast has one answer.
package struct CursorAudience: Sendable {
  private struct Member: Sendable {
    /// Since when it is connected; nil: it is not, and sees nothing.
    var connected: Timestamp?
    /// Whether it has open channels.
    var hasChannels = false
    /// The place that it asked for.
    var place: CursorPlace?
  }

  /// A page opens its channels soon after it is connected; until then it counts for nothing.
  static let patience = TimeDelta.seconds(2)
  /// The pointer stays in the picture for so long after the last who needed it there.
  static let calm = TimeDelta.seconds(3)

  /// The pointer belongs into the picture.
  package private(set) var isDrawn = true
  private var members: [String: Member] = [:]
  private var isNeeded = false
  /// The last time at which a viewer needed it in the picture.
  private var lastNeed: Timestamp?

  package init() {}

  /// A viewer is connected, or is so again.
  /// - Parameter hasChannels: it agreed to data channels.
  package mutating func connect(_ id: String, hasChannels: Bool, now: Timestamp) {
    members[id, default: Member()].hasChannels = hasChannels
    members[id]?.connected = now
  }

  /// The viewer is disconnected, and may return.
  package mutating func disconnect(_ id: String) { members[id]?.connected = nil }

  /// The viewer has left.
  package mutating func remove(_ id: String) { members[id] = nil }

  /// The viewer's request; may come before it is known to be connected.
  package mutating func setPlace(_ place: CursorPlace, of id: String) { members[id, default: Member()].place = place }

  /// The viewer's channels are closed. It may be about to leave: it is ignored until it had time to.
  package mutating func forgetPlace(of id: String, now: Timestamp) {
    members[id]?.place = nil
    if members[id]?.connected != nil { members[id]?.connected = now }
  }

  /// Updates the answer; call it after every change, and at `deadline`.
  /// - Parameter isNeededElsewhere: the pointer is needed in the picture for another purpose than viewers: a recording.
  package mutating func update(isNeededElsewhere: Bool, now: Timestamp) {
    let places = members.values.map { place(of: $0, now) }
    let wasNeeded = isNeeded
    isNeeded = isNeededElsewhere || places.contains(.picture)
    if isNeeded {
      isDrawn = true
      return
    }
    if wasNeeded { lastNeed = now }
    if places.contains(.viewer), calmTime.map({ $0 <= now }) ?? true { isDrawn = false }
  }

  /// When `update` may come to another answer by itself.
  package func deadline(after now: Timestamp) -> Timestamp? {
    guard !isNeeded else { return nil }
    var times = members.values.compactMap { $0.place == nil ? $0.connected.map { $0 + Self.patience } : nil }
    if isDrawn, let calmTime, members.values.contains(where: { place(of: $0, now) == .viewer }) {
      times.append(calmTime)
    }
    return times.min()
  }

  private var calmTime: Timestamp? { lastNeed.map { $0 + Self.calm } }

  private func place(of member: Member, _ now: Timestamp) -> CursorPlace {
    guard let connected = member.connected else { return .nowhere }
    if let place = member.place { return place }
    return member.hasChannels && now < connected + Self.patience ? .nowhere : .picture
  }
}
