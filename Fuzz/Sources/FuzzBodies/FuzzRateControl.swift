import RTCEngine
import RTCPrimitives
import RTCWire

/// A schedule for one rate control: a byte selects the event, the next ones its values. Packets are sent, with or
/// without the pacer's permission; feedback is honest, forged, replayed or missing; clocks jump, limits and routes
/// change. The target always stays within the limits and below twice the proved rate, and deadlines do not repeat
/// without end.
public func fuzzRateControl(_ bytes: Span<UInt8>) {
  var schedule = RateSchedule()
  var reader = ByteReader(bytes)
  while let event = reader.readUInt8(), let value = reader.readUInt8() {
    schedule.happen(event, value, &reader)
    schedule.check()
  }
}

/// The rate control, its remote peer, and what must hold of both.
private struct RateSchedule {
  private var rate: RateControl
  private var limits = BitrateLimits(maximum: .megabitsPerSecond(8))
  private var recorder = TWCCRecorder()
  private var now = Timestamp.zero + .seconds(1_000)
  private var clockOffset = TimeDelta.zero
  private var lastFeedback: [UInt8] = []
  private var feedbackCount: UInt8 = 0
  /// The most that the target may have come to, bits per second: by starts, and by what arrived.
  private var proved = 0.0

  init() {
    rate = RateControl(estimator: GoogleCongestionControl(limits: limits))
    rate.start(now)
    noteLimits()
  }

  mutating func happen(_ event: UInt8, _ value: UInt8, _ reader: inout ByteReader) {
    switch event & 0x0F {
    case 0, 1, 2: send(kind: event, count: Int(value & 0x1F) + 1, isPaced: value < 128)
    case 3: advance(.microseconds(Int64(value) * 200))
    case 4: advance(.milliseconds(Int64(value) * Int64(value) / 16))
    case 5: giveFeedback(isLost: value & 7 == 7)
    case 6: forgeFeedback(value, countShift: Int(event >> 4), &reader)
    case 7: setRemoteMaximum(value)
    case 8: report(expected: Int(Int8(bitPattern: value)) << Int(event >> 4), reader.readUInt8() ?? 0)
    case 9: rate.setRoundTrip(TimeDelta(nanoseconds: Int64(Int8(bitPattern: value)) << Int64(event >> 4) * 4), now: now)
    case 10: setLimits(value, reader.readUInt8() ?? 0, reader.readUInt8() ?? 0)
    case 11: changeRoute(value)
    case 12: replayFeedback()
    case 13: clockOffset = TimeDelta(nanoseconds: clockOffset.nanoseconds &+ Int64(Int8(bitPattern: value)) << 34)
    case 14: rate.setQueued(Int(value) << Int(event >> 4))
    default: ask(value)
    }
  }

  // MARK: - Packets and time

  private mutating func send(kind: UInt8, count: Int, isPaced: Bool) {
    let kinds: [SentPacket.Kind] = [.video, .audio, .repair, .fec, .padding, .data]
    let kind = kinds[Int(kind >> 4) % kinds.count]
    for _ in 0..<count {
      if isPaced, !rate.maySend(now) {
        advance(.milliseconds(5))
        continue
      }
      let number = rate.history.nextNumber
      rate.sent(kind, size: 1_200, now: now)
      recorder.add(number, at: now + .milliseconds(30))
    }
  }

  private mutating func advance(_ time: TimeDelta) {
    let end = now + time
    while rate.nextDeadline <= end {
      now = max(now, rate.nextDeadline)
      rate.deadlineReached(now)
      require(rate.nextDeadline > now, "the estimator wakes without end")
      check()
    }
    now = end
    if rate.pacer.nextDeadline <= now {
      rate.releasePacer()
      require(rate.pacer.nextDeadline > now, "the pacer wakes without end")
    }
  }

  // MARK: - Feedback

  private mutating func giveFeedback(isLost: Bool) {
    var feedback = [UInt8](repeating: 0, count: 1_200)
    var length = 0
    do {
      var writer = ByteWriter(feedback.mutableSpan)
      _ = recorder.writeFeedback(sender: SSRC(1), media: SSRC(2), into: &writer)
      length = writer.offset
    }
    guard length > 0, !isLost else { return }
    receive(Array(feedback[0..<length]))
  }

  /// Any numbers near those that were sent, with any times, and more of them than were ever sent.
  private mutating func forgeFeedback(_ value: UInt8, countShift: Int, _ reader: inout ByteReader) {
    let base = Int(rate.history.nextNumber.value) + Int(Int8(bitPattern: value)) * 4
    let count = min(Int(reader.readUInt8() ?? 1) << countShift, 0xFFFF)
    let time = UInt32(reader.readUInt8() ?? 0)
    var packet: [UInt8] = [0x8F, 205, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    packet += [UInt8(truncatingIfNeeded: base >> 8), UInt8(truncatingIfNeeded: base)]
    packet += [UInt8(max(1, count) >> 8), UInt8(truncatingIfNeeded: max(1, count))]
    packet += [
      UInt8(truncatingIfNeeded: time << 2), UInt8(truncatingIfNeeded: time * 7), UInt8(time & 3), feedbackCount,
    ]
    feedbackCount &+= 1
    for _ in 0..<min(64, count + 4) { packet.append(reader.readUInt8() ?? 0x20) }
    while packet.count % 4 != 0 { packet.append(0) }
    packet[3] = UInt8(packet.count / 4 - 1)
    receive(packet)
  }

  private mutating func receive(_ packet: [UInt8]) {
    lastFeedback = packet
    guard var compound = RTCPCompound(parsing: packet.span), let part = compound.next(),
      let feedback = TransportFeedback(parsing: part)
    else { return }
    rate.receive(feedback, now: now)
  }

  /// Once for each feedback, since a peer pays for a replay with as many bytes.
  private mutating func replayFeedback() {
    receive(lastFeedback)
    lastFeedback = []
  }

  private mutating func setRemoteMaximum(_ value: UInt8) {
    let before = unbound
    rate.setRemoteMaximum(BitRate(bitsPerSecond: Int64(value & 3) &<< Int64(value >> 2)), now: now)
    // If it is the only source, the rate follows it.
    if rate.estimate.reason == .remote { proved = max(proved, 2 * before) }
  }

  private mutating func report(expected: Int, _ lost: UInt8) {
    let lost = Int(Int8(bitPattern: lost)) << 8
    rate.receiveLoss(ReportedLoss.Interval(expected: expected, lost: lost), now: now)
    // Reports without loss raise the rate where nothing else speaks: by a twentieth each second.
    proved = max(proved, unbound)
  }

  /// The rate before the remote peer's limit.
  private var unbound: Double { Double(rate.estimate.delayBased?.bitsPerSecond ?? 0) }

  // MARK: - Settings and requests

  private mutating func setLimits(_ minimum: UInt8, _ maximum: UInt8, _ start: UInt8) {
    // Absurd ones among them: a minimum above the maximum, zeros, the largest number there is.
    func rate(_ value: UInt8) -> BitRate {
      value == 255 ? BitRate(bitsPerSecond: .max) : .kilobitsPerSecond(Int64(value) * 50)
    }
    limits.minimum = rate(minimum >> 2)
    limits.maximum = rate(maximum)
    limits.start = rate(start)
    self.rate.setLimits(limits, now: now)
    noteLimits()
  }

  private mutating func changeRoute(_ value: UInt8) {
    rate.routeChanged(now)
    proved = 0
    noteLimits()
    if value & 1 == 1 { recorder = TWCCRecorder() }
  }

  private mutating func ask(_ value: UInt8) {
    _ = rate.newVideoTarget(now, isForced: value & 1 == 1)
    require(rate.backlog(now) >= .zero, "negative backlog")
    require((0...1).contains(rate.smoothedLoss), "absurd smoothed loss")
    if value & 2 == 2 { rate.dropProbes() }
  }

  // MARK: - What must hold

  private var minimum: Double { min(max(0, Double(limits.minimum.bitsPerSecond)), 1e12) }
  private var maximum: Double { max(minimum, min(Double(limits.maximum.bitsPerSecond), 1e12)) }

  /// Starts and their first probes, which are six times as fast, are allowed without proof; so is the minimum.
  private mutating func noteLimits() {
    let start = max(minimum, min(maximum, Double(limits.start.bitsPerSecond)))
    proved = max(proved, 6 * start, Double(rate.estimate.target.bitsPerSecond))
  }

  mutating func check() {
    let estimate = rate.estimate
    let target = Double(estimate.target.bitsPerSecond)
    require((minimum - 1...maximum + 1).contains(target), "out of the limits")
    proved = max(proved, 2 * Double(estimate.acknowledged?.bitsPerSecond ?? 0))
    require(target <= proved * 1.01 + 10_000, "\(target) is more than twice what was proved, \(proved): \(estimate)")
    require((0...2.5e12 + 1).contains(Double(estimate.pacingRate.bitsPerSecond)), "absurd pacing")
    require((3_000...12_000).contains(estimate.burst), "absurd burst")
    // Feedback is waited for five seconds at most; a probe beside it takes no more than the limits.
    let window = Double(estimate.window ?? 6_000)
    require(window >= 6_000 && window <= target + 0.1 * 1e12, "absurd window")
    require((0...1).contains(estimate.loss), "absurd loss")
    require(estimate.queueingDelay ?? .zero >= .zero, "negative queue")
  }
}

/// A precondition that says what failed in release builds too.
private func require(_ holds: Bool, _ message: @autoclosure () -> String) {
  if !holds { fatalError(message()) }
}
