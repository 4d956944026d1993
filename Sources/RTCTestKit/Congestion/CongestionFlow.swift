package import RTCEngine
package import RTCPrimitives
import RTCWire

/// One sender and its receiver in a `CongestionBed`: what decides and paces is the real thing, pictures and packets are
/// sizes.
package final class CongestionFlow {
  /// The parameters of a flow.
  package struct Options: Sendable {
    /// When it begins.
    package var start = TimeDelta.zero
    /// When it sends nothing: a screen that rests, a muted camera.
    package var pauses: [Range<TimeDelta>] = []
    package var limits = BitrateLimits(maximum: .megabitsPerSecond(20))
    package var framesPerSecond = 30
    /// The maximum rate of the source; nil: all it may send.
    package var mostWanted: BitRate?
    /// Each frame differs from the mean by at most this share.
    package var frameNoise = 0.2
    /// Nil: all frames are alike but for `frameNoise`.
    package var bursts: Bursts?
    /// One way, beside what queues add.
    package var delay = TimeDelta.milliseconds(50)
    /// The first picture after a pause is so many times the usual one.
    package var firstFrameFactor = 5.0
    /// Probes that find nothing to send are filled up.
    package var pads = true
    /// How long feedback gathers.
    package var feedbackInterval = TWCCRecorder.interval
    /// Made for it.
    package var makeEstimator: @Sendable (BitrateLimits) -> any BandwidthEstimator = RateControlAlgorithm.gcc
      .makeEstimator

    package init() {}
  }

  /// Pictures of a screen: most are small, some many times as large, and now and then comes a key frame.
  package struct Bursts: Sendable {
    /// The share of all frames.
    package var largeShare = 0.1
    /// The size in usual frames, times 0.5 to 1.5; the other frames are smaller in exchange.
    package var largeFactor = 6.0
    package var keyFrameInterval: TimeDelta? = .seconds(10)
    /// The size at any rate: the screen does not fit into less.
    package var keyFrameSize = 100_000

    package init() {}
  }

  /// A packet on the way.
  struct Packet {
    var flow: Int
    var number: TransportSequenceNumber
    var size: Int
    /// When the picture was made of which this is the last packet; nil for the others.
    var made: Timestamp?
  }

  package static let packetSize = 1_200
  /// IPv4 and UDP headers.
  package static let overhead = 28
  /// The encoder leaves a frame out while more than this waits.
  private static let longestBacklog = TimeDelta.milliseconds(250)

  package let options: Options
  package private(set) var rate: RateControl
  private var recorder = TWCCRecorder()
  /// Sent packets that were not taken yet.
  var departures: [Packet] = []
  private var waiting: [(size: Int, made: Timestamp?)] = []
  private var firstWaiting = 0
  private var queued = 0
  private(set) var nextFrame: Timestamp
  private var needsFirst = true
  private var nextKeyFrame = Timestamp.distantFuture
  private var isStarted = false
  private var random: SeededGenerator
  private let index: Int

  init(_ options: Options, index: Int, seed: UInt64) {
    self.options = options
    self.index = index
    rate = RateControl(estimator: options.makeEstimator(options.limits))
    random = SeededGenerator(seed: seed)
    // Sources do not tick together.
    nextFrame = .zero + options.start + .seconds(random.nextUnit() * 0.03)
    if let interval = options.bursts?.keyFrameInterval { nextKeyFrame = nextFrame + interval }
    nextDeadline = nextFrame
  }

  /// The next deadline.
  private(set) var nextDeadline = Timestamp.zero

  private func updateDeadline() {
    nextDeadline = min(min(nextFrame, rate.nextDeadline), min(rate.pacer.nextDeadline, recorder.nextDeadline))
  }

  /// Makes a frame when one is due, and puts what may leave into `departures`.
  func run(_ now: Timestamp) {
    if !isStarted, now >= .zero + options.start {
      isStarted = true
      rate.start(now)
    }
    if nextFrame <= now { makeFrame(now) }
    rate.setQueued(queued)
    rate.deadlineReached(now)
    sendPaced(now)
    updateDeadline()
  }

  private func makeFrame(_ now: Timestamp) {
    nextFrame = now + .seconds(1 / Double(options.framesPerSecond))
    let elapsed = now - Timestamp.zero
    if let pause = options.pauses.first(where: { $0.contains(elapsed) }) {
      nextFrame = .zero + pause.upperBound
      needsFirst = true
      return
    }
    var target = rate.videoTarget(now)
    if let most = options.mostWanted { target = min(target, most) }
    guard queued <= target.bytes(in: Self.longestBacklog) else { return }
    let usual = Double(target.bitsPerSecond) / 8 / Double(options.framesPerSecond)
    var left = max(60, Int(usual * (needsFirst ? options.firstFrameFactor : frameFactor())))
    needsFirst = false
    if let bursts = options.bursts, let interval = bursts.keyFrameInterval, now >= nextKeyFrame {
      nextKeyFrame = now + interval
      left = bursts.keyFrameSize
    }
    while left > 0 {
      let size = min(left, Self.packetSize)
      waiting.append((max(60, size), left > size ? nil : now))
      queued += max(60, size)
      left -= size
    }
  }

  /// How many usual frames the next one is; one in the mean.
  private func frameFactor() -> Double {
    let noise = 1 + options.frameNoise * (2 * random.nextUnit() - 1)
    guard let bursts = options.bursts else { return noise }
    if random.nextUnit() < bursts.largeShare { return bursts.largeFactor * (0.5 + random.nextUnit()) }
    return noise * max(0, 1 - bursts.largeShare * bursts.largeFactor) / (1 - bursts.largeShare)
  }

  private func sendPaced(_ now: Timestamp) {
    rate.releasePacer()
    while firstWaiting < waiting.count {
      guard rate.maySend(now) else { return }
      let (size, made) = waiting[firstWaiting]
      firstWaiting += 1
      queued -= size
      rate.setQueued(queued)
      leave(.video, size, made: made, now)
    }
    waiting.removeAll(keepingCapacity: true)
    firstWaiting = 0
    guard options.pads, isStarted else { return }
    while rate.isProbing {
      guard rate.maySend(now) else { return }
      leave(.padding, Self.packetSize, now)
    }
  }

  private func leave(_ kind: SentPacket.Kind, _ size: Int, made: Timestamp? = nil, _ now: Timestamp) {
    let number = rate.history.nextNumber
    rate.sent(kind, size: size, now: now)
    departures.append(Packet(flow: index, number: number, size: size + Self.overhead, made: made))
  }

  // MARK: - Feedback

  /// The receiver has a packet.
  func arrived(_ packet: Packet, _ now: Timestamp) {
    recorder.add(packet.number, at: now)
    nextDeadline = min(nextDeadline, recorder.nextDeadline)
  }

  /// The receiver's feedback, when it is due.
  func takeFeedback(_ now: Timestamp) -> [UInt8]? {
    guard recorder.nextDeadline <= now else { return nil }
    var length = 0
    var feedback = [UInt8](repeating: 0, count: 1_200)
    do {
      var writer = ByteWriter(feedback.mutableSpan)
      _ = recorder.writeFeedback(sender: SSRC(1), media: SSRC(2), into: &writer)
      length = writer.offset
    }
    if recorder.isEmpty { recorder.postpone() } else { recorder.continueFeedback(now) }
    return length > 0 ? Array(feedback[0..<length]) : nil
  }

  func receive(_ bytes: [UInt8], _ now: Timestamp) {
    guard var compound = RTCPCompound(parsing: bytes.span), let packet = compound.next(),
      let feedback = TransportFeedback(parsing: packet)
    else { return }
    rate.setQueued(queued)
    rate.receive(feedback, now: now)
    updateDeadline()
  }

  func setRoundTrip(_ roundTrip: TimeDelta, _ now: Timestamp) {
    rate.setRoundTrip(roundTrip, now: now)
    updateDeadline()
  }
}
