/// The state of each source of one direction, by SSRC. A known source needs no allocation.
struct SRTPSources {
  /// Roll-over counters, indices and replay windows.
  struct State {
    var media = ReplayWindow()
    /// The replay window of incoming reports.
    var reports = ReplayWindow()
    /// The index of outgoing reports.
    var nextReport = ReportIndex()
  }

  /// How many are remembered; nil for all, as it must be for what goes out: an index that came again would give away what
  /// both packets say.
  private let limit: Int?
  private var sources: [UInt32] = []
  private var states: [State] = []
  /// The number of each one's last packet.
  private var heard: [UInt64] = []
  private var packets: UInt64 = 0
  /// The position of the last source found: packets of a source come in runs.
  private var recent = 0

  init(limit: Int?) { self.limit = limit }

  var count: Int { sources.count }

  /// The place of a source that is known.
  mutating func find(_ source: UInt32) -> Int? {
    if recent < sources.count, sources[recent] == source { return recent }
    guard let place = sources.firstIndex(of: source) else { return nil }
    recent = place
    return place
  }

  /// The index of a packet from the source at `place`, nil for a new one.
  /// - Throws: if the index is a replay, too old, or beyond the last.
  func checkedIndex(of packet: SRTPLayout, at place: Int?) throws(SRTPError) -> UInt64 {
    guard let place else { return try PacketIndex.estimate(packet.sequenceNumber, after: nil) }
    let index = try PacketIndex.estimate(packet.sequenceNumber, after: states[place].media.highest)
    try states[place].media.check(index)
    return index
  }

  /// Checks the index of a report.
  /// - Throws: if the index is a replay or too old.
  func checkReport(_ index: UInt64, at place: Int?) throws(SRTPError) {
    if let place { try states[place].reports.check(index) }
  }

  func nextReport(at place: Int?) -> ReportIndex { place.map { states[$0].nextReport } ?? ReportIndex() }

  /// Records that a packet of `source` was encrypted or authenticated.
  ///
  /// If the maximum number of sources is reached, a new one replaces the one that was silent longest.
  /// - Parameter place: the result of `find`.
  mutating func note(_ source: UInt32, at place: Int?, _ change: (inout State) -> Void) {
    let place = place ?? enter(source)
    packets += 1
    heard[place] = packets
    change(&states[place])
  }

  private mutating func enter(_ source: UInt32) -> Int {
    if let limit, sources.count >= limit {
      recent = heard.indices.min { heard[$0] < heard[$1] }!
      sources[recent] = source
      states[recent] = State()
    } else {
      sources.append(source)
      states.append(State())
      heard.append(0)
      recent = sources.count - 1
    }
    return recent
  }
}
