public import RTCPrimitives

extension TransportFeedback {
  /// A packet that arrived, for the receiver to report.
  public struct Arrival: Hashable, Sendable, BitwiseCopyable {
    /// The packet's number among all packets of the transport.
    public var sequenceNumber: TransportSequenceNumber
    /// When the packet arrived; sent in units of 250 µs, rounded down.
    public var time: Timestamp

    /// The arrival of packet `sequenceNumber` at `time`.
    public init(sequenceNumber: TransportSequenceNumber, time: Timestamp) {
      self.sequenceNumber = sequenceNumber
      self.time = time
    }

    /// The arrival in units of 250 µs, rounded down.
    fileprivate var ticks: Int64 {
      let (quotient, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: TransportFeedback.tick.nanoseconds)
      return rest < 0 ? quotient - 1 : quotient
    }
  }

  /// Writes one feedback packet for the longest prefix of `arrivals` that one packet can carry: numbers between two
  /// arrivals count as lost. The prefix ends where the writer's room does, where two arrivals are more than 8.19 s
  /// apart, and where a number is not after the one before it.
  /// - Parameters:
  ///   - feedbackCount: goes up by one, wrapping, with each packet.
  ///   - base: the number to begin with, before the first arrival: those up to that count as lost. Nil: begin with it.
  /// - Returns: how many of `arrivals` went in; 0 only when there are none or the room is under 24 bytes.
  @_lifetime(writer: copy writer)
  @discardableResult
  public static func write(
    sender: SSRC, media: SSRC, feedbackCount: UInt8, base: TransportSequenceNumber? = nil, arrivals: Span<Arrival>,
    into writer: inout ByteWriter
  ) -> Int {
    guard arrivals.count > 0 else { return 0 }
    let base = base ?? arrivals[0].sequenceNumber
    let count = fittingPrefix(of: arrivals, base: base, room: writer.remaining)
    guard count > 0 else { return 0 }
    let start = writer.offset
    let reference = referenceTime(of: arrivals)
    var symbols = StatusSymbols(base: base, arrivals: arrivals.extracting(0..<count), reference: reference)
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.transportFeedback, count: 15, bodySize: 0)
    writer.write(sender.value)
    writer.write(media.value)
    writer.write(base.value)
    writer.write(UInt16(symbols.remaining))
    writer.writeUInt24(UInt32(truncatingIfNeeded: reference))
    writer.write(feedbackCount)
    while symbols.remaining > 0 { writer.write(symbols.nextChunk()) }
    var previous = reference * ticksPerReference
    for index in 0..<count {
      let ticks = arrivals[index].ticks
      let delta = ticks - previous
      if StatusSymbol(delta: delta) == .smallDelta {
        writer.write(UInt8(delta))
      } else {
        writer.write(UInt16(bitPattern: Int16(delta)))
      }
      previous = ticks
    }
    writer.write(repeating: 0, count: -(writer.offset - start) & 3)
    writer.overwrite(UInt16((writer.offset - start) / 4 - 1), at: start + 2)
    return count
  }

  private static func referenceTime(of arrivals: Span<Arrival>) -> Int64 {
    arrivals[0].ticks >> 8  // 256 ticks a unit, rounded down
  }

  /// How many arrivals surely fit into `room` bytes: every chunk but the last covers at least seven packets, and only
  /// losses beyond 26 in a row can need run-length chunks of their own.
  private static func fittingPrefix(of arrivals: Span<Arrival>, base: TransportSequenceNumber, room: Int) -> Int {
    var previous = referenceTime(of: arrivals) * ticksPerReference
    var (statuses, loose, runs, deltas) = (0, 0, 0, 0)
    for index in arrivals.indices {
      let before = index == 0 ? base.advanced(by: -1) : arrivals[index - 1].sequenceNumber
      let advance = arrivals[index].sequenceNumber.distance(from: before)
      let ticks = arrivals[index].ticks
      guard advance > 0, let symbol = StatusSymbol(delta: ticks - previous) else { return index }
      let lost = advance - 1
      statuses += advance
      loose += 1 + min(lost, 26)
      runs += lost < 14 ? 0 : lost / StatusSymbols.longestRun + 1
      deltas += symbol.deltaSize
      let size = RTCPPacket.headerSize + 8 + fixedSize + 2 * ((loose + 6) / 7 + runs) + deltas
      guard statuses <= Int(UInt16.max), (size + 3) & ~3 <= room else { return index }
      previous = ticks
    }
    return arrivals.count
  }
}

extension StatusSymbol {
  /// The symbol of a packet that arrived `delta` ticks after the one before; nil when no delta can say that.
  fileprivate init?(delta: Int64) {
    switch delta {
    case 0...255: self = .smallDelta
    case Int64(Int16.min)...Int64(Int16.max): self = .largeDelta
    default: return nil
    }
  }
}

/// The symbols of a run of arrivals and the losses between them, packed into chunks. A copy looks ahead.
private struct StatusSymbols: ~Escapable {
  static let longestRun = 0x1FFF

  private let arrivals: Span<TransportFeedback.Arrival>
  private var index = 0
  private var lostBefore = 0
  private var previousTicks: Int64
  /// The number of the arrival before, or the one before the first to be spoken of.
  private var previous: TransportSequenceNumber
  /// Symbols not yet taken.
  private(set) var remaining: Int

  @_lifetime(copy arrivals)
  init(base: TransportSequenceNumber, arrivals: Span<TransportFeedback.Arrival>, reference: Int64) {
    self.arrivals = arrivals
    previousTicks = reference * TransportFeedback.ticksPerReference
    previous = base.advanced(by: -1)
    remaining = arrivals[0].sequenceNumber.distance(from: previous)
    for index in 1..<max(1, arrivals.count) {
      remaining += arrivals[index].sequenceNumber.distance(from: arrivals[index - 1].sequenceNumber)
    }
  }

  /// Takes as many symbols as the best next chunk holds. At least one must remain.
  @_lifetime(self: copy self)
  mutating func nextChunk() -> UInt16 {
    let (symbol, run) = peekRun()
    if run >= 14 || run == remaining { return takeRun(symbol, run) }
    var ahead = self
    var oneBit: UInt16 = 0x8000
    for position in 0..<min(14, remaining) {
      let next = ahead.next()
      if next == .largeDelta { return run >= 7 ? takeRun(symbol, run) : takeTwoBitVector() }
      oneBit |= next.rawValue << UInt16(13 - position)
    }
    self = ahead
    return oneBit
  }

  /// The packets missing before the next arrival.
  private var lostLeft: Int { arrivals[index].sequenceNumber.distance(from: previous) - 1 - lostBefore }

  /// The next symbol and how often it repeats, up to the longest run. The remote peer chooses the numbers, so that any
  /// number of packets may be missing: they are counted by arithmetic.
  private func peekRun() -> (StatusSymbol, Int) {
    if lostLeft > 0 { return (.lost, min(Self.longestRun, lostLeft)) }
    var ahead = self
    let symbol = ahead.next()
    var run = 1
    while run < min(Self.longestRun, remaining), ahead.next() == symbol { run += 1 }
    return (symbol, run)
  }

  @_lifetime(self: copy self)
  private mutating func takeRun(_ symbol: StatusSymbol, _ count: Int) -> UInt16 {
    if symbol == .lost {
      lostBefore += count
      remaining -= count
    } else {
      for _ in 0..<count { _ = next() }
    }
    return symbol.rawValue << 13 | UInt16(count)
  }

  @_lifetime(self: copy self)
  private mutating func takeTwoBitVector() -> UInt16 {
    var chunk: UInt16 = 0xC000
    for position in 0..<min(7, remaining) { chunk |= next().rawValue << UInt16(2 * (6 - position)) }
    return chunk
  }

  /// Takes one symbol; one must remain.
  @_lifetime(self: copy self)
  private mutating func next() -> StatusSymbol {
    remaining -= 1
    let arrival = arrivals[index]
    if lostLeft > 0 {
      lostBefore += 1
      return .lost
    }
    previous = arrival.sequenceNumber
    let delta = arrival.ticks - previousTicks
    previousTicks = arrival.ticks
    index += 1
    lostBefore = 0
    return (0...255).contains(delta) ? .smallDelta : .largeDelta
  }
}
