import RTCEngine
import RTCPrimitives
import RTCTestKit
import Synchronization
import Testing

/// Another estimator of bandwidth in the place of ours, named in one place: `PeerConfiguration.makeEstimator`.
@Suite struct NewEstimatorTests {
  /// Targets what has lately arrived and half as much again.
  private struct ArrivalRateEstimator: BandwidthEstimator {
    private(set) var limits: BitrateLimits
    private var target: BitRate
    private(set) var nextDeadline = Timestamp.distantFuture
    var estimate: NetworkEstimate {
      NetworkEstimate(target: target, pacingRate: target.scaled(by: 2.5), burst: 12_000)
    }
    private var arrived = 0
    let log: ResultLog

    init(limits: BitrateLimits, log: ResultLog) {
      self.limits = limits
      self.log = log
      target = limits.start
    }

    mutating func start(_ now: Timestamp) { nextDeadline = now + .seconds(1) }

    mutating func receive(_ results: [PacketResult], _ activity: SendActivity, now: Timestamp) {
      log.results.withLock { $0 += results }
      arrived += results.reduce(0) { $0 + ($1.arrival == nil ? 0 : $1.packet.size) }
    }

    mutating func receiveLoss(expected: Int, lost: Int, now: Timestamp) {}
    mutating func setRoundTrip(_ roundTrip: TimeDelta, now: Timestamp) {}
    mutating func setRemoteMaximum(_ rate: BitRate?, now: Timestamp) {}
    mutating func setLimits(_ limits: BitrateLimits, now: Timestamp) { self.limits = limits }
    mutating func routeChanged(_ now: Timestamp) {}
    mutating func takeProbe(_ now: Timestamp) -> ProbeCluster? { nil }

    mutating func deadlineReached(_ now: Timestamp, _ activity: SendActivity) {
      guard nextDeadline <= now else { return }
      target = max(limits.minimum, min(limits.maximum, .bitsPerSecond(Int64(arrived * 12))))
      arrived = 0
      nextDeadline = now + .seconds(1)
    }
  }

  private final class ResultLog: Sendable {
    let results = Mutex([PacketResult]())
  }

  @Test func `another estimator decides the target by its own rule`() throws {
    let log = ResultLog()
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      guard side == .offerer else { return }
      configuration.makeEstimator = { ArrivalRateEstimator(limits: $0, log: log) }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.followsTargetBitrate = false
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(40), frameSize: 5_000, keyFrameSize: 5_000, from: pair.now)
    pair.run(for: .seconds(10))
    // 25 pictures of 5,000 bytes are 1 Mbit/s; half as much again, and the packets' headers.
    let target = pair.sender.peer.statistics.targetBitrate
    #expect((1_450_000...1_700_000).contains(target.bitsPerSecond))
    #expect(pair.sender.bitrates.last?.rate == target)
  }

  @Test func `results tell the times of sending and arrival`() throws {
    let log = ResultLog()
    var options = PeerPair.Options()
    options.configure = { side, configuration in
      if side == .offerer { configuration.makeEstimator = { ArrivalRateEstimator(limits: $0, log: log) } }
    }
    let pair = try PeerPair(options)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(
      interval: .milliseconds(100), frameSize: 3_000, keyFrameSize: 3_000, from: pair.now)
    pair.run(for: .seconds(5))
    let results = log.results.withLock { $0 }
    try #require(results.count > 100)
    #expect(results.map(\.packet.number) == Array(0..<Int64(results.count)))
    #expect(results.allSatisfy { $0.packet.kind == .video && $0.packet.size > 500 && $0.arrival != nil })
    // The network delays all by the same, so that both clocks run alike.
    let first = results[0]
    for result in results {
      let sent = result.packet.sendTime - first.packet.sendTime
      let arrived = (result.arrival ?? .zero) - (first.arrival ?? .zero)
      #expect(abs((sent - arrived).nanoseconds) <= 1_000_000)
    }
  }
}
