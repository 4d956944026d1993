import RTCEngine
package import RTCPrimitives

/// Flows through one bottleneck on virtual time (RFC 8867 §4): the real estimators, pacers and feedback, with packets that
/// are sizes, so that a minute takes milliseconds.
package struct CongestionBed {
  /// A change of a bottleneck.
  package struct Step: Sendable {
    package var time: TimeDelta
    package var rate: BitRate

    /// From `time` on, `rate`.
    package init(_ time: TimeDelta, _ rate: BitRate) {
      self.time = time
      self.rate = rate
    }
  }

  /// The parameters of a run.
  package struct Options: Sendable {
    package var seed: UInt64 = 1
    package var duration = TimeDelta.seconds(60)
    package var flows = [CongestionFlow.Options()]
    /// The bottleneck's rates, in order; the first from the beginning.
    package var capacity = [Step(.zero, .megabitsPerSecond(3))]
    /// The queue in front of it, as time at its rate.
    package var queueTime = TimeDelta.milliseconds(300)
    /// The queue in bytes, where it does not follow the rate.
    package var queueBytes: Int?
    /// The way back, shared by all feedback; empty: endless.
    package var feedbackCapacity: [Step] = []
    /// The chance that a packet is lost behind the bottleneck.
    package var loss = 0.0
    /// The loss of feedback.
    package var feedbackLoss = 0.0
    /// A random addition to each packet's delay, evenly spread.
    package var jitter = TimeDelta.zero
    /// The chance that a packet comes so much later, behind others.
    package var reordering = 0.0
    package var reorderingDelay = TimeDelta.milliseconds(30)
    /// Times in which everything is lost, both ways.
    package var outages: [Range<TimeDelta>] = []
    /// Other traffic that takes its part of the bottleneck.
    package var tcp: [TCPFlow.Options] = []

    package init() {}
  }

  private enum Delivery {
    case packet(CongestionFlow.Packet)
    case feedback([UInt8], Int)
    case segment(Int, TCPFlow.Segment)
    case acknowledgement(Int, TCPFlow.Segment)
  }

  private enum Queued {
    case packet(CongestionFlow.Packet)
    case segment(Int, TCPFlow.Segment)
  }

  package let options: Options
  package let flows: [CongestionFlow]
  package private(set) var meters: [FlowMeter]
  package private(set) var now = Timestamp.zero
  private let delays: [TimeDelta]
  private var tcp: [TCPFlow]
  private var forward: Bottleneck<Queued>
  private var back: Bottleneck<(bytes: [UInt8], flow: Int)>
  private var deliveries = DeliveryQueue<Delivery>()
  private var random: SeededGenerator
  private var nextStep = 1
  private var nextFeedbackStep = 1
  private var nextSecond = Timestamp.zero
  private var lastArrivals: [Timestamp]

  package init(_ options: Options) {
    self.options = options
    random = SeededGenerator(seed: options.seed)
    var seeds = SeededGenerator(seed: options.seed &+ 77)
    flows = options.flows.enumerated().map { CongestionFlow($1, index: $0, seed: seeds.next()) }
    delays = options.flows.map(\.delay)
    meters = options.flows.map { _ in FlowMeter() }
    tcp = options.tcp.map { TCPFlow($0) }
    forward = Bottleneck(rate: options.capacity[0].rate, capacity: 0)
    back = Bottleneck(rate: options.feedbackCapacity.first?.rate, capacity: 30_000)
    lastArrivals = options.flows.map { _ in .zero }
    forward.capacity = queueCapacity(options.capacity[0].rate)
  }

  private func queueCapacity(_ rate: BitRate) -> Int {
    max(options.queueBytes ?? rate.bytes(in: options.queueTime), 2 * CongestionFlow.packetSize)
  }

  /// Runs to the end.
  package mutating func run() { run(until: .zero + options.duration) }

  /// Runs until `end`.
  package mutating func run(until end: Timestamp) {
    while true {
      let next = nextTime
      guard next <= end else { break }
      now = max(now, next)
      step()
    }
    now = end
  }

  private var nextTime: Timestamp {
    var next = min(nextSecond, deliveries.firstTime ?? .distantFuture)
    next = min(next, min(forward.nextDeparture ?? .distantFuture, back.nextDeparture ?? .distantFuture))
    if nextStep < options.capacity.count { next = min(next, .zero + options.capacity[nextStep].time) }
    if nextFeedbackStep < options.feedbackCapacity.count {
      next = min(next, .zero + options.feedbackCapacity[nextFeedbackStep].time)
    }
    for flow in flows { next = min(next, flow.nextDeadline) }
    for flow in tcp { next = min(next, flow.nextDeadline) }
    return next
  }

  private mutating func step() {
    if nextStep < options.capacity.count, .zero + options.capacity[nextStep].time <= now {
      forward.setRate(options.capacity[nextStep].rate, now: now)
      forward.capacity = queueCapacity(options.capacity[nextStep].rate)
      nextStep += 1
    }
    if nextFeedbackStep < options.feedbackCapacity.count,
      .zero + options.feedbackCapacity[nextFeedbackStep].time <= now
    {
      back.setRate(options.feedbackCapacity[nextFeedbackStep].rate, now: now)
      nextFeedbackStep += 1
    }
    depart()
    deliver()
    for index in flows.indices { runFlow(index) }
    for index in tcp.indices {
      tcp[index].run(now)
      for segment in tcp[index].departures {
        _ = forward.add(.segment(index, segment), size: TCPFlow.segmentSize, now: now)
      }
      tcp[index].departures.removeAll(keepingCapacity: true)
    }
    if nextSecond <= now { everySecond() }
  }

  private mutating func runFlow(_ index: Int) {
    guard flows[index].nextDeadline <= now else { return }
    if let feedback = flows[index].takeFeedback(now) {
      _ = back.add((feedback, index), size: feedback.count + CongestionFlow.overhead + 14, now: now)
    }
    flows[index].run(now)
    for packet in flows[index].departures {
      meters[index].sent(packet.size, now)
      if isOut {
        meters[index].lost(now)
      } else if !forward.add(.packet(packet), size: packet.size, now: now) {
        meters[index].dropped(now)
      }
    }
    flows[index].departures.removeAll(keepingCapacity: true)
    meters[index].note(flows[index].rate.estimate, now)
  }

  private var isOut: Bool {
    let elapsed = now - Timestamp.zero
    return options.outages.contains { $0.contains(elapsed) }
  }

  // MARK: - On the way

  private mutating func depart() {
    while let departure = forward.removeFirst(by: now) {
      switch departure.packet {
      case .packet(let packet):
        meters[packet.flow].waited(departure.waited, departure.time)
        if random.nextUnit() < options.loss {
          meters[packet.flow].lost(now)
        } else {
          deliveries.insert(.packet(packet), at: arrival(of: packet, departure.time))
        }
      case .segment(let flow, let segment):
        deliveries.insert(.segment(flow, segment), at: departure.time + tcp[flow].options.delay)
      }
    }
    while let departure = back.removeFirst(by: now) {
      let flow = departure.packet.flow
      guard !isOut, random.nextUnit() >= options.feedbackLoss else { continue }
      deliveries.insert(
        .feedback(departure.packet.bytes, flow), at: departure.time + delays[flow])
    }
  }

  private mutating func arrival(of packet: CongestionFlow.Packet, _ departure: Timestamp) -> Timestamp {
    var time = departure + delays[packet.flow]
    if options.jitter > .zero {
      time += .seconds(options.jitter.seconds * random.nextUnit())
      time = max(time, lastArrivals[packet.flow])
    }
    if options.reordering > 0, random.nextUnit() < options.reordering { return time + options.reorderingDelay }
    lastArrivals[packet.flow] = time
    return time
  }

  private mutating func deliver() {
    while let time = deliveries.firstTime, time <= now {
      switch deliveries.removeFirst() {
      case .packet(let packet):
        meters[packet.flow].delivered(packet.size, now)
        if let made = packet.made { meters[packet.flow].pictureArrived(made: made, delay: delays[packet.flow], now) }
        flows[packet.flow].arrived(packet, now)
      case .feedback(let bytes, let flow): flows[flow].receive(bytes, now)
      case .segment(let flow, let segment):
        deliveries.insert(.acknowledgement(flow, segment), at: now + tcp[flow].options.delay)
      case .acknowledgement(let flow, let segment): tcp[flow].acknowledged(segment, now)
      }
    }
  }

  private mutating func everySecond() {
    nextSecond = now + .seconds(1)
    let queue = (forward.rate ?? .megabitsPerSecond(1_000)).time(forBytes: forward.backlog(now))
    for index in flows.indices where now >= .zero + flows[index].options.start {
      flows[index].setRoundTrip(delays[index] * 2 + min(queue, .seconds(2)), now)
    }
  }

  /// Bits that the bottleneck could have carried within `range`.
  package func capacity(_ range: Range<TimeDelta>) -> Double {
    var bits = 0.0
    for (index, step) in options.capacity.enumerated() {
      let end = index + 1 < options.capacity.count ? options.capacity[index + 1].time : options.duration
      let time = min(end, range.upperBound) - max(step.time, range.lowerBound)
      bits += max(0, time.seconds) * Double(step.rate.bitsPerSecond)
    }
    return bits
  }
}
