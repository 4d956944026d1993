internal import RTCPrimitives

/// The packets of one stream that are read but not done with: a queue with two readers, the decoder and the tap.
///
/// While decoding is switched off the decoder's place follows the clock from key frame to key frame, so that decoding can
/// begin again in the middle of a group with the picture that is due.
struct PacketLog {
  enum Entry {
    case packet(DemuxedPacket)
    /// A pass through the file ended: the decoder gives out what it holds. What comes before `floor` in the next pass is
    /// decoded but not shown.
    case boundary(floor: TimeDelta, isLast: Bool)
  }

  /// The next entry for the decoder.
  struct Work {
    var entry: Entry
    /// Whether packets before this one were left out.
    var startsAnew: Bool
  }

  private enum Tap {
    case off
    /// From the first key frame at this media time or later, even if it is past when the tap sees it.
    case waiting(from: TimeDelta)
    /// After a loss: from the packet that follows the last one.
    case resuming
    case at(Int)
  }

  private var entries: [Entry] = []
  /// Entries are numbered from the beginning of time; this is the number of `entries[head]`.
  private var first = 0
  private var head = 0
  private var decodeAt = 0
  private var startsAnew = true
  private var tap = Tap.off
  /// The decode time of the last packet that the tap took.
  private var lastTapped: TimeDelta?
  private(set) var byteCount = 0
  /// Whether packets that are not yet due are kept for a tap that may be added.
  let isTappable: Bool

  init(isTappable: Bool) { self.isTappable = isTappable }

  private var endIndex: Int { first + entries.count - head }
  private subscript(number: Int) -> Entry { entries[head + number - first] }

  var isEmpty: Bool { head == entries.count }
  var isTapped: Bool { if case .off = tap { false } else { true } }
  /// Whether the decoder has taken all entries.
  var isExhausted: Bool { decodeAt >= endIndex }

  mutating func append(_ entry: Entry) {
    if case .packet(let packet) = entry { byteCount += packet.payload.count }
    entries.append(entry)
  }

  /// Removes all entries, after a seek.
  /// - Parameters:
  ///   - media: the media time at which the next packets begin.
  ///   - resumesTap: the same packets are read again, and the tap gets the packets that it has not had.
  mutating func removeAll(at media: TimeDelta, resumesTap: Bool = false) {
    first = endIndex
    entries.removeAll()
    head = 0
    byteCount = 0
    decodeAt = first
    startsAnew = true
    if isTapped { tap = resumesTap && lastTapped != nil ? .resuming : .waiting(from: media) }
  }

  // MARK: - The decoder

  mutating func nextToDecode() -> Work? {
    guard decodeAt < endIndex else { return nil }
    defer {
      decodeAt += 1
      startsAnew = false
    }
    return Work(entry: self[decodeAt], startsAnew: startsAnew)
  }

  /// The decode time of the next packet for the decoder; nil where a pass ends or nothing waits.
  var nextDecodeTime: TimeDelta? {
    guard decodeAt < endIndex, case .packet(let packet) = self[decodeAt] else { return nil }
    return max(packet.time, packet.decodeTime)
  }

  /// While decoding is late: moves the decoder's place to the newest key frame of a stretch, else to the first after it,
  /// else to the end of the pass (of the last one only when all of it is due). Says how many packets are left out; nil when
  /// none of these was read yet.
  mutating func skipToKeyFrame(from earliest: TimeDelta, to latest: TimeDelta) -> Int? {
    var target: Int?
    search: for number in max(decodeAt + 1, first)..<max(decodeAt + 1, endIndex) {
      switch self[number] {
      case .boundary(_, let isLast):
        if target == nil, !isLast || isPacket(number - 1, before: latest) { target = number }
        break search
      case .packet(let packet):
        guard packet.isKeyFrame, packet.time >= earliest else { continue }
        if packet.time > latest, target != nil { break search }
        target = number
        if packet.time > latest { break search }
      }
    }
    guard let target else { return nil }
    defer {
      decodeAt = target
      startsAnew = true
    }
    return target - decodeAt
  }

  /// While nothing is decoded: moves the decoder's place to the newest entry point that is due.
  mutating func skipDecoding(to media: TimeDelta) {
    var number = max(decodeAt, first)
    while number < endIndex {
      switch self[number] {
      case .packet(let packet):
        if packet.decodeTime > media { return }
        if packet.isEntryPoint, number > decodeAt {
          decodeAt = number
          startsAnew = true
        }
      case .boundary(_, let isLast):
        // The end is for the decoder to see, so that the stream ends when everything else is past.
        if isLast {
          if number > decodeAt { startsAnew = true }
          decodeAt = number
          return
        }
      }
      number += 1
    }
  }

  // MARK: - The tap

  /// - Parameter media: the present media time. The clock may go on before the tap looks for its first key frame.
  mutating func setTapped(_ isTapped: Bool, at media: TimeDelta) {
    guard isTapped != self.isTapped else { return }
    tap = isTapped ? .waiting(from: media) : .off
    lastTapped = nil
  }

  /// The packet the tap gets next, which may not be due; nil when there is none yet.
  mutating func nextToTap() -> DemuxedPacket? {
    switch tap {
    case .off: return nil
    case .waiting(let media):
      for number in first..<max(first, endIndex) {
        guard case .packet(var packet) = self[number], beginsTap(number, from: media) else { continue }
        tap = .at(number)
        packet.startsAfterJump = true
        entries[head + number - first] = .packet(packet)
        return packet
      }
      return nil
    case .resuming:
      for number in first..<max(first, endIndex) {
        guard case .packet(let packet) = self[number], packet.decodeTime > lastTapped ?? .zero else { continue }
        tap = .at(number)
        return packet
      }
      return nil
    case .at(var number):
      while number < endIndex {
        if case .packet(let packet) = self[number] {
          tap = .at(number)
          return packet
        }
        number += 1
      }
      tap = .at(number)
      return nil
    }
  }

  /// The tap took what `nextToTap` showed.
  mutating func noteTapped() {
    guard case .at(let number) = tap else { return }
    if number < endIndex, case .packet(let packet) = self[number] { lastTapped = packet.decodeTime }
    tap = .at(number + 1)
  }

  /// The next key frame among what is read that is later than `media`, or that the tap gets although it is due.
  func nextKeyFrame(after media: TimeDelta) -> TimeDelta? {
    for number in first..<max(first, endIndex) {
      guard case .packet(let packet) = self[number], packet.isEntryPoint else { continue }
      let isComing =
        switch tap {
        case .off: packet.time > media
        case .waiting(let start): packet.time >= start
        case .resuming: packet.decodeTime > lastTapped ?? .zero
        case .at(let next): packet.time > media || number >= next
        }
      if isComing { return packet.time }
    }
    return nil
  }

  // MARK: - Letting go

  /// Discards the entries that neither reader needs; `limit` bounds the bytes kept for a decoder that is switched off.
  mutating func trim(to media: TimeDelta, limit: Int) {
    var keep = decodeAt
    if case .at(let number) = tap { keep = min(keep, number) }
    while first < keep, head < entries.count {
      if isTappable, case .packet(let packet) = self[first], packet.decodeTime >= media { break }
      if case .waiting(let start) = tap, beginsTap(first, from: start) { break }
      dropFirst()
    }
    while byteCount > limit, head < entries.count, isPast(media) {
      if case .at(first) = tap { break }
      if case .waiting(let start) = tap, beginsTap(first, from: start) { break }
      dropFirst()
      if decodeAt < first { restartDecoder() }
    }
    compact()
  }

  private func beginsTap(_ number: Int, from start: TimeDelta) -> Bool {
    guard case .packet(let packet) = self[number] else { return false }
    return packet.isKeyFrame && packet.time >= start
  }

  private func isPacket(_ number: Int, before media: TimeDelta) -> Bool {
    guard case .packet(let packet) = self[number] else { return false }
    return packet.time < media
  }

  private func isPast(_ media: TimeDelta) -> Bool {
    guard case .packet(let packet) = self[first] else { return false }
    return packet.decodeTime < media
  }

  /// Some of the group is gone: the decoder begins again with the next key frame.
  private mutating func restartDecoder() {
    decodeAt = first
    startsAnew = true
    while decodeAt < endIndex {
      switch self[decodeAt] {
      case .packet(let packet) where !packet.isKeyFrame: decodeAt += 1
      default: return
      }
    }
  }

  private mutating func dropFirst() {
    if case .packet(let packet) = self[first] { byteCount -= packet.payload.count }
    // Frees the packet now; the array is shortened later, many at once.
    entries[head] = .boundary(floor: .zero, isLast: false)
    head += 1
    first += 1
  }

  private mutating func compact() {
    guard head > 64, head * 2 > entries.count else { return }
    entries.removeFirst(head)
    head = 0
  }
}
