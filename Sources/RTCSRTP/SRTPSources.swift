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

/// The number of a source's packets: the roll-over counter (ROC) and the sequence number, 48 bits (RFC 3711 §3.3.1).
package enum PacketIndex {
  /// How many a key may protect (RFC 3711 §9.2).
  package static let limit: UInt64 = 1 << 48

  /// The index of a packet: the one with its sequence number that is nearest to `highest`, the highest index so far;
  /// nil before the first, whose ROC is 0. If two are equally near, the ROC stays.
  /// - Throws: `keyExpired` if the ROC itself would roll over.
  package static func estimate(_ sequenceNumber: UInt16, after highest: UInt64?) throws(SRTPError) -> UInt64 {
    guard let highest else { return UInt64(sequenceNumber) }
    let last = UInt16(truncatingIfNeeded: highest)
    var counter = highest >> 16
    if last < 0x8000 {
      // The first ROC is 0.
      if Int(sequenceNumber) - Int(last) > 0x8000, counter > 0 { counter -= 1 }
    } else if last - 0x8000 > sequenceNumber {
      counter += 1
    }
    let index = counter << 16 | UInt64(sequenceNumber)
    guard index < limit else { throw .keyExpired }
    return index
  }
}

/// The SRTCP index of an outgoing source: from 0 on, 31 bits (RFC 3711 §3.4).
package struct ReportIndex {
  /// How many there are, and how many packets a key may protect (RFC 3711 §9.2).
  package static let limit: UInt64 = 1 << 31

  private var next: UInt64

  package init(next: UInt32 = 0) { self.next = UInt64(next) }

  /// - Throws: `keyExpired` after the last one: none may come twice.
  package mutating func take() throws(SRTPError) -> UInt32 {
    guard next < Self.limit else { throw .keyExpired }
    defer { next += 1 }
    return UInt32(next)
  }
}
