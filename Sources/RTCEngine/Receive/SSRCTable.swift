package import RTCPrimitives

/// The transceivers of the remote peer's sources (RFC 8843 §9.2): by its description, or learned from packets that
/// named their m-section.
package struct SSRCTable {
  /// A remote peer has no business with more sources at a time.
  package static let capacity = 64

  private struct Entry {
    var source: SSRC
    var owner: TransceiverID
    var isDescribed: Bool
    var bound: Timestamp
  }

  /// Changes of one source's owner closer together than this are refused.
  private static let interval = TimeDelta.seconds(1)
  private var entries: [Entry] = []

  package init() {}

  package func owner(of source: SSRC) -> TransceiverID? {
    for index in entries.indices where entries[index].source == source { return entries[index].owner }
    return nil
  }

  /// The result of a packet's claim that its source belongs to an m-section.
  package enum Binding: Hashable {
    /// The source belongs to it, as before or from now on.
    case bound
    /// The source was another's until now.
    case moved(from: TransceiverID)
    /// Refused: the source changes its m-section too fast.
    case refused
  }

  package mutating func bind(_ source: SSRC, to owner: TransceiverID, now: Timestamp) -> Binding {
    for index in entries.indices where entries[index].source == source {
      let former = entries[index].owner
      guard former != owner else { return .bound }
      guard now - entries[index].bound >= Self.interval else { return .refused }
      entries[index] = Entry(source: source, owner: owner, isDescribed: false, bound: now)
      return .moved(from: former)
    }
    if entries.count >= Self.capacity {
      guard let oldest = entries.firstIndex(where: { !$0.isDescribed }) else { return .refused }
      entries.remove(at: oldest)
    }
    entries.append(Entry(source: source, owner: owner, isDescribed: false, bound: now))
    return .bound
  }

  /// Applies a new description; sources learned for transceivers that still receive stay.
  package mutating func describe(_ described: [(source: SSRC, owner: TransceiverID)], receiving: Set<TransceiverID>) {
    entries.removeAll { $0.isDescribed || !receiving.contains($0.owner) }
    for item in described.prefix(Self.capacity / 2) {
      entries.removeAll { $0.source == item.source }
      entries.append(
        Entry(source: item.source, owner: item.owner, isDescribed: true, bound: Timestamp(nanoseconds: .min / 2)))
    }
  }
}
