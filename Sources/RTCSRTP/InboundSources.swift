import RTCPrimitives

/// The sources that genuine packets came from lately: as many as one peer has business with.
struct InboundSources {
  private struct Entry {
    var source: SSRC
    /// The number of the last packet.
    var heard: UInt64
  }

  private var entries: [Entry] = []
  /// Where the last one was found: packets of a source come in a row.
  private var recent = 0
  private var packets: UInt64 = 0

  var count: Int { entries.count }

  /// Takes in that a genuine packet came.
  /// - Returns: the source that is to be forgotten for it, the one that was silent longest.
  mutating func heard(_ source: SSRC) -> SSRC? {
    packets += 1
    if recent < entries.count, entries[recent].source == source {
      entries[recent].heard = packets
      return nil
    }
    for index in entries.indices where entries[index].source == source {
      entries[index].heard = packets
      recent = index
      return nil
    }
    let new = Entry(source: source, heard: packets)
    guard entries.count >= PeerLimits.sources else {
      entries.append(new)
      recent = entries.count - 1
      return nil
    }
    var oldest = 0
    for index in entries.indices where entries[index].heard < entries[oldest].heard { oldest = index }
    defer { entries[oldest] = new }
    recent = oldest
    return entries[oldest].source
  }
}
