import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCTestKit
import Testing

/// Whole peers over links that shrink and lose: packets, pacer, repair, error correction and feedback as they are, with a
/// model of an encoder that keeps to the target and leaves pictures out while what was sent before still waits.
@Suite struct WholePeersTests {
  @Test func `pictures follow a capacity that varies without a standing queue`() throws {
    var call = try Call(seed: 1)
    var bits = 0.0
    for kilobits: Int64 in [1_000, 2_500, 600, 1_000] {
      call.setRate(.kilobitsPerSecond(kilobits))
      call.run(for: .seconds(20))
      bits += Double(kilobits) * 1_000 * 20
    }
    call.expectDecodable()
    #expect(call.deliveredBits >= 0.5 * bits)
    // The drop to a quarter may lose more than repair brings back in time; nothing else may.
    #expect(call.keyFrames <= 2)
    #expect(call.delay(quantile: 0.95) <= .milliseconds(300))
    #expect(call.longestGap <= .milliseconds(1_000))
  }

  @Test func `pictures follow a link that shrinks to an eighth`() throws {
    var call = try Call(seed: 2)
    for kilobits: Int64 in [5_000, 600, 3_000] {
      call.setRate(.kilobitsPerSecond(kilobits))
      call.run(for: .seconds(20))
    }
    call.expectDecodable()
    #expect(call.keyFrames <= 3)
    #expect(call.delay(quantile: 0.95) <= .milliseconds(300))
    #expect(call.longestGap <= .milliseconds(1_500))
    // What waited and was given up at the drop does not count as waiting for ever.
    #expect(call.framesReceived >= 1_000)
    #expect(call.deliveredBits >= 0.5 * 20 * 8.6e6)
  }

  /// One picture in ten is two to four usual ones, which take up to 130 ms of the rate by themselves. Which packets are lost
  /// moves the delay of one call by some 25 ms.
  @Test(arguments: [(0.02, TimeDelta.milliseconds(210)), (0.10, .milliseconds(260))])
  func `lost packets are repaired without a key frame`(loss: Double, bound: TimeDelta) throws {
    var delays: [TimeDelta] = []
    var callsWithRequests = 0
    for seed in UInt64(3)...9 {
      var call = try Call(seed: seed)
      call.setRate(.megabitsPerSecond(3))
      call.pair.network[call.pair.mediaDirection].loss = loss
      call.run(for: .seconds(40))
      call.expectDecodable()
      #expect(call.keyFrames == 1)
      if call.pair.sender.peer.statistics.video.pliCount > 0 { callsWithRequests += 1 }
      if seed == 3 { #expect(callsWithRequests == 0) }
      #expect(call.deliveredBits >= 0.4 * 40 * 3e6)
      #expect(call.framesReceived >= call.framesSent * 97 / 100)
      delays.append(call.delay(quantile: 0.95))
    }
    #expect(callsWithRequests <= 1)
    #expect(delays.sorted()[3] <= bound, "\(delays)")
  }
}

/// One sender with its encoder, and one viewer, 50 ms away there and back.
private struct Call {
  let pair: PeerPair
  private var random: SeededGenerator
  private var captured: [UInt64: Timestamp] = [:]
  private var lastPicture: Timestamp?
  private static let interval = TimeDelta.microseconds(33_333)
  /// The encoder leaves a picture out while more than this waits.
  private static let longestBacklog = TimeDelta.milliseconds(100)

  init(seed: UInt64) throws {
    var options = PeerPair.Options()
    options.seed = seed
    options.conditions = .delayed(.milliseconds(25))
    options.bitrates = BitrateLimits(maximum: .megabitsPerSecond(8))
    options.configure = { _, configuration in configuration.offersForwardErrorCorrection = true }
    pair = try PeerPair(options)
    random = SeededGenerator(seed: seed)
    try #require(pair.connect() != nil)
    pair.sender.source = SyntheticVideo(from: .distantFuture)
  }

  /// The way to the viewer, with a queue of 300 ms.
  func setRate(_ rate: BitRate) {
    pair.network[pair.mediaDirection].rate = rate
    pair.network[pair.mediaDirection].queueCapacity = rate.bytes(in: .milliseconds(300))
  }

  mutating func run(for duration: TimeDelta) {
    let end = pair.now + duration
    while pair.now < end {
      makePicture()
      pair.run(for: Self.interval)
    }
  }

  private mutating func makePicture() {
    guard pair.sender.peer.sendBacklog(pair.now) <= Self.longestBacklog else { return }
    let target = pair.sender.bitrates.last?.rate ?? pair.options.bitrates.start
    // What was left out makes room for the next, up to a tenth of a second.
    let since = lastPicture.map { min(max(pair.now - $0, Self.interval), .milliseconds(100)) } ?? Self.interval
    lastPicture = pair.now
    let usual = Double(target.bytes(in: since))
    pair.sender.source?.frameSize = max(64, Int(usual * factor()))
    pair.sender.source?.keyFrameSize = max(64, target.bytes(in: .milliseconds(200)))
    guard let frame = pair.sender.source?.next(pair.now) else { return }
    pair.sender.source?.nextTime = .distantFuture
    captured[frame.number] = pair.now
    pair.send(frame, from: pair.options.sender)
  }

  /// Most pictures are small, one in ten is several times as large.
  private mutating func factor() -> Double {
    random.nextUnit() < 0.1 ? 2 + 2 * random.nextUnit() : 0.6 + 0.35 * random.nextUnit()
  }

  // MARK: - What came of it

  func expectDecodable() {
    let chain = FrameChain(pair.receiver.frames)
    #expect(chain.isSound)
  }

  var keyFrames: Int { FrameChain(pair.receiver.frames).keyFrames }
  var framesSent: Int { captured.count }
  var framesReceived: Int { pair.receiver.frames.count }
  var deliveredBits: Double { pair.receiver.frames.reduce(0) { $0 + Double($1.data.count) * 8 } }

  /// From capture to the whole frame at the viewer.
  private var arrivals: [(time: Timestamp, delay: TimeDelta)] {
    pair.receiver.events.compactMap { event in
      guard case .frameReceived(let frame, _) = event.event,
        let number = SyntheticVideo.number(of: frame.data, isKeyFrame: frame.isKeyFrame, codec: frame.codec),
        let time = captured[number]
      else { return nil }
      return (event.time, event.time - time)
    }
  }

  func delay(quantile: Double) -> TimeDelta {
    let sorted = arrivals.map(\.delay).sorted()
    return sorted.isEmpty ? .seconds(1_000) : sorted[min(sorted.count - 1, Int(Double(sorted.count) * quantile))]
  }

  /// The longest time without a new picture.
  var longestGap: TimeDelta {
    let times = arrivals.map(\.time)
    return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? .seconds(1_000)
  }
}
