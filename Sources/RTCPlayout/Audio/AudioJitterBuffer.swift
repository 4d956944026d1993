package import RTCEngine
import RTCMedia
package import RTCPrimitives
import RTCWire

/// Holds the packets of one sound until they are played, and decides every few milliseconds what to do next, so that
/// late packets are not lost and the delay is as small as possible.
///
/// Times are the receiver's; the stream's own clock is related to them by its fastest packets. A sample's *delay* is
/// the time from then until it is heard. The buffer learns the lateness of packets and derives the delay it needs,
/// `target`; `pace` says how playing must speed up or slow down to reach it. A value for one thread; packets may arrive
/// in any order.
package struct AudioJitterBuffer: Sendable {
  /// The next action. Counts are samples of each channel at 48 kHz, multiples of 120 in 120…480 unless stated
  /// otherwise.
  package enum Step: Sendable {
    /// Decode this packet and skip its first samples, whose time was concealed.
    case decode(ReceivedAudio, skipping: Int)
    /// A packet was lost; restore it from the copy in the next one. `sampleCount` is 120…5760.
    case recover(sampleCount: Int, from: ReceivedAudio)
    /// A packet was lost, or is late: make something up.
    case conceal(sampleCount: Int)
    /// The remote peer sends nothing during silence: continue with comfort noise.
    case comfort(sampleCount: Int)
    /// There is no sound, or not yet.
    case silence(sampleCount: Int)
  }

  /// The change of playing speed that brings the delay of decoded sound to its target.
  package struct Pace: Hashable, Sendable {
    /// Whether decoded sound is to become shorter or longer by a piece.
    package enum Stretch: Hashable, Sendable {
      case none
      /// Leave out a piece where it is inaudible.
      case shorten
      /// Repeat a piece where it is inaudible.
      case lengthen
    }

    /// The change of length of the next piece of sound.
    package var stretch = Stretch.none
    /// How far the delay is off: positive when it is too long.
    package var excess = TimeDelta.zero
    /// The number of input samples for each played sample: 0.999…1.001. It absorbs the difference between the two
    /// sides' clocks.
    package var ratio = 1.0

    /// Plays on unchanged.
    package init() {}
  }

  private struct Held {
    var packet: ReceivedAudio
    /// The timestamp continued to 64 bits.
    var position: Int64
    var content: OpusPacket
    var end: Int64 { position + Int64(content.sampleCount) }
    /// Two bytes at most mean a silence that is not sent (RFC 7587 §3.1.3).
    var isSilence: Bool { packet.payload.count <= 2 }
  }

  /// Samples made up at once.
  private static let block: Int64 = 480
  /// Opus knows no shorter frame: 2.5 ms.
  private static let unit: Int64 = 120
  /// A transit this far from the others belongs to a restarted sender.
  private static let leap = TimeDelta.seconds(2)
  /// A delay this much above the target is mended by leaving packets out, since hurrying would take too long.
  private static let largestExcess = TimeDelta.milliseconds(500)
  /// Concealment longer than this has no similarity to the sound.
  private static let longestConcealment: Int64 = 96_000
  private static let maximumHeld = 400

  /// The targets of the buffer, fixed.
  package let options: Options
  /// The totals so far.
  package private(set) var statistics = Statistics()
  /// A delay added to the network's need, such as to wait for the picture; 0…2 s.
  package var addedDelay = TimeDelta.zero { didSet { addedDelay = max(.zero, min(.seconds(2), addedDelay)) } }

  /// In order of number.
  private var packets: [Held] = []
  private var delays = DelayEstimate()
  private var peaks = DelayPeaks()
  /// The newest timestamp, continued to 64 bits.
  private var newest: Int64?
  /// The position of the next output sample; nil before the first.
  private var front: Int64?
  /// The number of the last packet that was output.
  private var lastNumber = Int64.min
  private var lastWasSilence = false
  private var lastSampleCount = 960
  /// Samples made up since the last real ones without `front` moving on.
  private var stalled: Int64 = 0
  private var isConcealing = false
  /// The part of `stalled` that was counted as concealment of loss.
  private var doubtful = 0
  /// The share of packets lost of late.
  private var loss = 0.0
  private var learned = 0
  /// The delay that suffices for the configured share of packets.
  private var usual = TimeDelta.zero
  private var stretch = Pace.Stretch.none

  /// An empty buffer; `insert` fills it.
  package init(_ options: Options = Options()) { self.options = options }

  // MARK: Packets in

  /// Takes a packet; in any order, each once.
  package mutating func insert(_ packet: ReceivedAudio) {
    guard let content = OpusPacket(packet.payload) else {
      statistics.packetsInvalid += 1
      return
    }
    statistics.packetsReceived += 1
    let held = Held(packet: packet, position: position(packet.timestamp), content: content)
    learn(held)
    if front != nil, packet.number <= lastNumber {
      statistics.packetsLate += 1
      return
    }
    let place = (packets.lastIndex { $0.packet.number <= packet.number }).map { $0 + 1 } ?? 0
    if place > 0, packets[place - 1].packet.number == packet.number {
      statistics.packetsDuplicated += 1
      return
    }
    packets.insert(held, at: place)
    if packets.count > Self.maximumHeld { discard(1) }
  }

  private mutating func position(_ timestamp: RTPTimestamp) -> Int64 {
    guard let newest else {
      self.newest = Int64(timestamp.value)
      return Int64(timestamp.value)
    }
    let position = Extended<RTPTimestamp>(newest).nearest(timestamp).value
    self.newest = max(newest, position)
    return position
  }

  private mutating func learn(_ held: Held) {
    let transit = (held.packet.received - .zero) - Self.duration(held.position)
    if let baseline = delays.baseline, (transit - baseline).nanoseconds.magnitude > Self.leap.nanoseconds.magnitude {
      beginAnew(at: held.position)
    }
    let delay = delays.add(transit: transit, arrival: held.packet.received)
    learned += 1
    peaks.note(delay, usual: usual, at: held.packet.received)
    usual = delays.quantile(options.share)
  }

  private mutating func beginAnew(at position: Int64) {
    discard(packets.count)
    delays = DelayEstimate()
    peaks = DelayPeaks()
    newest = position
    front = nil
    lastNumber = .min
    learned = 0
    usual = .zero
    stalled = 0
    doubtful = 0
    stretch = .none
    statistics.restarts += 1
  }

  // MARK: Delay

  /// The delay that is wanted: what nearly all packets need, within the bounds, and `addedDelay`.
  package var target: TimeDelta {
    var needed = options.initialDelay
    if learned >= 10 {
      needed = max(usual, peaks.height ?? .zero) + options.margin
      // The packet that repeats a lost one comes one later.
      if loss > options.noticeableLoss { needed = needed + Self.duration(Int64(lastSampleCount)) }
    }
    return max(options.minimumDelay, min(options.maximumDelay, needed)) + addedDelay
  }

  /// The delay of a sample at `position` played at `time`.
  private func delay(of position: Int64, heardAt time: Timestamp) -> TimeDelta {
    (time - .zero) - Self.duration(position) - (delays.baseline ?? .zero)
  }

  private static func duration(_ samples: Int64) -> TimeDelta { .ticks(samples, atRate: 48_000) }

  /// The pace of playing.
  ///
  /// - Parameters:
  ///   - pending: samples handed out that are not played yet.
  ///   - time: the time when the first of them is played.
  package mutating func pace(pending: Int, at time: Timestamp) -> Pace {
    var pace = Pace()
    guard let front, stalled == 0 else {
      stretch = .none
      return pace
    }
    let delay = delay(of: front - Int64(pending), heardAt: time)
    let target = target
    statistics.noteDelay(delay, target: target)
    pace.excess = delay - target
    let milliseconds = pace.excess.seconds * 1_000
    pace.ratio = 1 + max(-1, min(1, milliseconds / 10)) * options.largestRatio
    let slack = target.seconds * 250  // a quarter, in milliseconds
    switch stretch {
    case .none:
      if milliseconds > max(20, slack) { stretch = .shorten }
      if milliseconds < -max(10, slack) { stretch = .lengthen }
    case .shorten: if milliseconds < 5 { stretch = .none }
    case .lengthen: if milliseconds > -3 { stretch = .none }
    }
    pace.stretch = stretch
    return pace
  }

  /// Counts samples that playing left out (positive) or repeated (negative).
  package mutating func noteStretched(by samples: Int) {
    if samples > 0 { statistics.samplesRemoved += samples } else { statistics.samplesInserted -= samples }
  }

  /// Counts a packet that the decoder refused; its length was made up.
  package mutating func noteUndecodable() { statistics.packetsUndecodable += 1 }

  // MARK: Sound out

  /// Whether the next packet is there and directly follows the last output.
  package var canContinue: Bool {
    guard let front, stalled == 0, let first = packets.first else { return false }
    return first.position <= front && first.end > front
  }

  /// The timestamp of the next output sample; nil before the first packet.
  package var frontTimestamp: RTPTimestamp? { front.map { RTPTimestamp(UInt32(truncatingIfNeeded: $0)) } }

  /// Returns the action for the next samples, which counts as done.
  ///
  /// - Parameter time: the time when the first of them will be played.
  package mutating func next(heardAt time: Timestamp) -> Step {
    let step = choose(time)
    switch step {
    case .decode(let packet, let skipping): count(decoded: packet, skipping: skipping)
    case .recover(let samples, _):
      statistics.packetsRecovered += 1
      statistics.samplesRecovered += samples
      isConcealing = false
    case .conceal(let samples):
      statistics.samplesConcealed += samples
      if !isConcealing { statistics.concealments += 1 }
      isConcealing = true
    case .comfort(let samples): statistics.samplesComfort += samples
    case .silence(let samples): statistics.samplesSilent += samples
    }
    return step
  }

  private mutating func choose(_ time: Timestamp) -> Step {
    guard let front else { return start(time) }
    dropPassed(front)
    guard packets.first != nil else { return stall() }
    let position = skipExcess(front, time)
    let gap = packets[0].position - position
    guard gap > 0 else { return take(skipping: Int(-gap)) }
    let missing = packets[0].packet.number &- lastNumber &- 1
    if missing <= 0 || gap / Int64(OpusPacket.maximumSampleCount) >= missing { return resume(time) }
    return bridge(gap)
  }

  /// Waits for the first packet's time.
  private mutating func start(_ time: Timestamp) -> Step {
    guard let first = packets.first else { return .silence(sampleCount: Int(Self.block)) }
    if let wait = wait(for: first.position, time) { return .silence(sampleCount: wait) }
    lastNumber = first.packet.number - 1
    return take(skipping: 0)
  }

  /// Samples to wait until `position` has the target's delay; nil when it has.
  private func wait(for position: Int64, _ time: Timestamp) -> Int? {
    let missing = target - delay(of: position, heardAt: time)
    let units = (min(missing.nanoseconds, 10_000_000) * 3 / 62_500 + Self.unit / 2) / Self.unit
    return units > 0 ? Int(units * Self.unit) : nil
  }

  /// There is no packet to play.
  private mutating func stall() -> Step {
    stalled += Self.block
    let samples = Int(Self.block)
    if stalled > Self.longestConcealment { return .silence(sampleCount: samples) }
    guard !lastWasSilence else { return .comfort(sampleCount: samples) }
    doubtful += samples
    return .conceal(sampleCount: samples)
  }

  /// The next packet follows on the last but starts later: its silence was not sent.
  private mutating func resume(_ time: Timestamp) -> Step {
    absolve()
    guard let wait = wait(for: packets[0].position, time) else {
      return take(skipping: 0)
    }
    stalled += Int64(wait)
    if stalled > Self.longestConcealment { return .silence(sampleCount: wait) }
    return .comfort(sampleCount: wait)
  }

  /// Concealment turned out to cover a silence, whose beginning not every encoder signals.
  private mutating func absolve() {
    guard doubtful > 0 else { return }
    statistics.samplesConcealed -= doubtful
    statistics.samplesComfort += doubtful
    statistics.concealments -= 1
    doubtful = 0
    isConcealing = false
  }

  /// Packets are missing in front of the next one.
  private mutating func bridge(_ gap: Int64) -> Step {
    let remaining = (gap - stalled) / Self.unit * Self.unit
    guard remaining > 0, let front else { return take(skipping: 0) }
    let next = packets[0]
    let length = Int64(next.content.sampleCount)
    let isRepeated = next.content.mayRepeatPrevious(next.packet.payload)
    if isRepeated, remaining <= length {
      self.front = next.position
      stalled = 0
      doubtful = 0
      return .recover(sampleCount: Int(remaining), from: next.packet)
    }
    let samples = min(Self.block, isRepeated ? remaining - length : remaining)
    self.front = front + samples
    return .conceal(sampleCount: Int(samples))
  }

  private mutating func take(skipping: Int) -> Step {
    let first = packets.removeFirst()
    let missing = first.packet.number &- lastNumber &- 1
    if missing > 0 {
      statistics.packetsLost += Int(min(missing, 1_000))
      for _ in 0..<min(missing, 200) { loss += (1 - loss) / 100 }
    }
    loss -= loss / 100
    front = first.end
    lastNumber = first.packet.number
    lastWasSilence = first.isSilence
    lastSampleCount = first.content.sampleCount
    stalled = 0
    doubtful = 0
    return .decode(first.packet, skipping: skipping)
  }

  private mutating func count(decoded packet: ReceivedAudio, skipping: Int) {
    isConcealing = false
    statistics.packetsDecoded += 1
    statistics.samplesDecoded += lastSampleCount - skipping
  }

  /// Drops packets whose time has been concealed.
  private mutating func dropPassed(_ front: Int64) {
    while let first = packets.first, first.packet.number <= lastNumber || first.end <= front {
      packets.removeFirst()
      lastNumber = max(lastNumber, first.packet.number)
      statistics.packetsLate += 1
    }
  }

  /// Leaves packets out when the delay is far too long.
  /// - Returns: `front`, perhaps moved on.
  private mutating func skipExcess(_ front: Int64, _ time: Timestamp) -> Int64 {
    let target = target
    guard delay(of: front, heardAt: time) - target > Self.largestExcess else { return front }
    let kept = packets.firstIndex { delay(of: $0.position, heardAt: time) <= target + .milliseconds(20) }
    discard(kept ?? packets.count - 1)
    let first = packets[0]
    self.front = first.position
    lastNumber = first.packet.number - 1
    return first.position
  }

  private mutating func discard(_ count: Int) {
    guard count > 0 else { return }
    statistics.packetsDiscarded += count
    packets.removeFirst(count)
  }
}
