import RTCEngine
import RTCPrimitives
import RTCTestKit
import RTCWire
import Testing

/// The packets that are sent, their times and purposes, under an estimate that the test sets.
@Suite struct RateControlTests {
  /// Holds the path to bear what it was made with; asks for probes when told to.
  private struct FixedEstimator: BandwidthEstimator {
    var estimate: NetworkEstimate
    var limits = BitrateLimits()
    var nextDeadline = Timestamp.distantFuture
    /// The queueing delays in each feedback, one after another.
    var queueingDelays: [TimeDelta] = []
    /// Handed out with the first feedback.
    var probes: [ProbeCluster] = []
    private var isHeard = false

    init(target: BitRate, window: Int? = nil, probes: [ProbeCluster] = []) {
      estimate = NetworkEstimate(target: target, pacingRate: target.scaled(by: 2.5), burst: 6_000)
      estimate.window = window
      self.probes = probes
    }

    mutating func start(_ now: Timestamp) {}
    mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp) {
      isHeard = true
      if !queueingDelays.isEmpty { estimate.queueingDelay = queueingDelays.removeFirst() }
    }
    mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp) {}
    mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) {}
    mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp) {}
    mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) {}
    mutating func routeChanged(_ now: Timestamp) {}
    mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity) {}
    mutating func takeProbe(_ now: Timestamp) -> ProbeCluster? {
      isHeard && !probes.isEmpty ? probes.removeFirst() : nil
    }
  }

  private func connectedPair(_ estimator: FixedEstimator, loss: Double = 0, seed: UInt64 = 1) throws -> PeerPair {
    var options = PeerPair.Options()
    options.seed = seed
    options.configure = { _, configuration in
      configuration.makeEstimator = { _ in estimator }
      configuration.usesForwardErrorCorrection = false
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.network[pair.mediaDirection].loss = loss
    pair.recordsDepartures = true
    return pair
  }

  private func media(_ pair: PeerPair) -> [PeerPair.Departure] {
    pair.departures.filter { $0.side == pair.options.sender && $0.header != nil }
  }

  // MARK: - Small frames

  @Test func `what a full queue refuses is not protected with more packets`() throws {
    var estimator = FixedEstimator(target: .megabitsPerSecond(2))
    estimator.estimate.queueingDelay = .milliseconds(150)
    let pair = try connectedPair(estimator, loss: 0.1)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(100), frameSize: 900, from: pair.now)
    pair.run(for: .seconds(60))
    let frames = pair.sender.peer.statistics.video.framesSent
    // What was asked for is sent again, as ever.
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted < frames * 3 / 10)
  }

  @Test func `its last packets are reported when it is gone and do not count either`() {
    var estimator = FixedEstimator(target: .megabitsPerSecond(2))
    estimator.queueingDelays = [.milliseconds(200), .zero, .zero]
    var control = RateControl(estimator: estimator)
    func send(_ count: Int, at milliseconds: Int64) {
      for _ in 0..<count { control.sent(.video, size: 1_000, now: .zero + .milliseconds(milliseconds)) }
    }
    send(30, at: 0)
    reportArrivals(Array(0..<10), count: 0) { control.receive($0, now: .zero + .milliseconds(100)) }
    send(10, at: 400)
    reportArrivals(Array(30..<35), count: 1) { control.receive($0, now: .zero + .milliseconds(500)) }
    #expect(control.smoothedLoss == 0)
    send(10, at: 600)
    reportArrivals(Array(45..<50), count: 2) { control.receive($0, now: .zero + .milliseconds(700)) }
    #expect(control.smoothedLoss > 0.1)
  }

  @Test func `small frames are sent twice ten milliseconds apart where packets are lost`() throws {
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(2)), loss: 0.1)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(100), frameSize: 900, from: pair.now)
    pair.run(for: .seconds(60))
    let frames = pair.sender.peer.statistics.video.framesSent
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted > frames * 8 / 10)
    // Of the frames that were lost the first time nine in ten come 10 ms later, with no round trip.
    let arrivals = pair.receiver.events.compactMap { event -> TimeDelta? in
      guard case .frameReceived(let frame, _) = event.event else { return nil }
      return event.time
        - pair.departures.last { $0.time <= event.time && $0.header?.timestamp == frame.timestamp }!.time
    }
    #expect(FrameChain(pair.receiver.frames).isSound)
    let gaps = delays(pair)
    #expect(gaps.count { $0 <= .milliseconds(31) } >= gaps.count * 95 / 100)
    #expect(!arrivals.isEmpty)
  }

  /// From each frame's first packet to its arrival.
  private func delays(_ pair: PeerPair) -> [TimeDelta] {
    var sent: [RTPTimestamp: Timestamp] = [:]
    for packet in media(pair) where sent[packet.header!.timestamp] == nil {
      sent[packet.header!.timestamp] = packet.time
    }
    return pair.receiver.events.compactMap { event in
      guard case .frameReceived(let frame, _) = event.event, let begun = sent[frame.timestamp] else { return nil }
      return event.time - begun
    }
  }

  @Test func `what is asked for is sent again twice where much is lost`() throws {
    for (loss, least, most) in [(0.03, 0.5, 1.0), (0.15, 1.5, 2.0)] {
      let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(8)), loss: loss)
      pair.sender.source = SyntheticVideo(interval: .milliseconds(33), frameSize: 8_000, from: pair.now)
      pair.run(for: .seconds(20))
      let statistics = pair.sender.peer.statistics.video
      let share = Double(statistics.packetsRetransmitted) / Double(statistics.nackedPackets)
      #expect(least...most ~= share, "\(share) at \(loss)")
      #expect(FrameChain(pair.receiver.frames).isSound)
    }
  }

  @Test func `frames of one packet are sent three times where much is lost`() throws {
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(2)), loss: 0.15)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(100), frameSize: 900, from: pair.now)
    pair.run(for: .seconds(60))
    let statistics = pair.sender.peer.statistics.video
    #expect(statistics.packetsRetransmitted > statistics.framesSent * 17 / 10)
    // One in 300 is lost each time; two in a hundred would be if it was sent twice.
    #expect(delays(pair).count { $0 > .milliseconds(60) } <= 12)
  }

  @Test func `nothing is sent twice where nothing is lost`() throws {
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(2)))
    pair.sender.source = SyntheticVideo(interval: .milliseconds(100), frameSize: 900, from: pair.now)
    pair.run(for: .seconds(10))
    #expect(pair.sender.peer.statistics.video.packetsRetransmitted == 0)
  }

  // MARK: - Too much to repair

  @Test func `a key frame takes the place of repair that would take longer`() throws {
    let pair = try connectedPair(FixedEstimator(target: .kilobitsPerSecond(500)))
    pair.sender.followsTargetBitrate = false
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(40), frameSize: 2_000, keyFrameSize: 8_000, from: pair.now)
    pair.run(for: .seconds(2))
    let before = pair.sender.peer.statistics.video.keyFramesSent
    // Forty packets of video go astray, the feedback does not.
    pair.sender.source!.frameSize = 20_000
    pair.network[pair.mediaDirection].loss = 1
    pair.run(for: .milliseconds(900))
    pair.network[pair.mediaDirection].loss = 0
    pair.sender.source!.frameSize = 2_000
    pair.run(for: .seconds(2))
    let statistics = pair.sender.peer.statistics.video
    #expect(statistics.repairsAbandoned >= 1)
    #expect(statistics.keyFramesSent > before && statistics.pliCount == 0)
    let requested = pair.sender.events.contains {
      if case .keyFrameRequested(.loss, _) = $0.event { true } else { false }
    }
    #expect(requested)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  // MARK: - The window

  @Test func `no more is on its way than the window, and lost feedback does not stop it for ever`() throws {
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(4), window: 10_000))
    pair.sender.followsTargetBitrate = false
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(40), frameSize: 15_000, keyFrameSize: 15_000, from: pair.now)
    pair.run(for: .seconds(1))
    pair.departures.removeAll()
    pair.network.setConditions(.broken)
    let cut = pair.now
    pair.run(for: .milliseconds(100))
    // What was on its way, and no more than fills the window.
    #expect(media(pair).filter { $0.time > cut }.reduce(0) { $0 + $1.bytes.count } <= 12_000)
    pair.run(for: .seconds(2))
    // Then one packet now and then, to find out when the path works again.
    let later = media(pair).filter { $0.time > cut + .milliseconds(200) }.map(\.time)
    #expect(later.count > 40)
    #expect(zip(later, later.dropFirst()).allSatisfy { $1 - $0 >= .milliseconds(25) })
  }

  @Test func `pictures go on within 150 ms of an outage, and no packet is sent again three times`() throws {
    // A window of 150 ms at 2 Mbit/s.
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(2), window: 37_000))
    pair.sender.source = SyntheticVideo(interval: .milliseconds(33), frameSize: 7_000, from: pair.now)
    pair.run(for: .seconds(2))
    for length in [200, 400] {
      let before = pair.sender.peer.statistics.video
      let conditions = pair.network[pair.mediaDirection]
      pair.network.setConditions(.broken)
      pair.run(for: .milliseconds(Int64(length)))
      let over = pair.now
      pair.network.setConditions(conditions)
      pair.run(for: .milliseconds(800))
      let next = pair.receiver.events.first { event in
        if case .frameReceived = event.event { event.time > over } else { false }
      }
      let wait = try #require(next).time - over
      #expect(wait < .milliseconds(150), "\(wait) after \(length) ms")
      let after = pair.sender.peer.statistics.video
      let lost = after.nackedPackets - before.nackedPackets
      #expect(lost < 60)
      #expect(after.packetsRetransmitted - before.packetsRetransmitted <= lost)
    }
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  // MARK: - Probes

  @Test func `a probe is filled with packets that were sent already`() throws {
    let probe = ProbeCluster(id: 3, rate: .megabitsPerSecond(8))  // 15,000 bytes
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(1), probes: [probe]))
    pair.sender.source = SyntheticVideo(interval: .milliseconds(500), frameSize: 900, from: pair.now)
    pair.run(for: .seconds(3))
    let statistics = pair.sender.peer.statistics.video
    let ssrcs = Dictionary(grouping: media(pair), by: { $0.header!.ssrc }).mapValues {
      $0.reduce(0) { $0 + $1.bytes.count }
    }
    #expect(ssrcs.count == 2)
    #expect(ssrcs.values.min()! >= 14_000 && ssrcs.values.min()! < 30_000)
    #expect(statistics.packetsRetransmitted == 0 && statistics.framesSent >= 5)
    #expect(FrameChain(pair.receiver.frames).isSound)
  }

  // MARK: - What video gets

  @Test func `repair and sound are taken off what video may have`() throws {
    let pair = try connectedPair(FixedEstimator(target: .megabitsPerSecond(1)), loss: 0.2)
    pair.sender.source = SyntheticVideo(interval: .milliseconds(40), frameSize: 4_000, from: pair.now)
    pair.run(for: .seconds(10))
    let rates = pair.sender.bitrates.map(\.rate)
    #expect(rates.first == .megabitsPerSecond(1))
    #expect(rates.last! < .kilobitsPerSecond(920) && rates.last! > .kilobitsPerSecond(300), "\(rates.last!)")
  }
}
