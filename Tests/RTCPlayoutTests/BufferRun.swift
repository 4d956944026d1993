import RTCEngine
import RTCPlayout
import RTCPrimitives

/// Plays a buffer without any sound, for hours of virtual time: what is pending is only counted.
struct BufferRun {
  var trace: DelayTrace
  var seconds: Double
  var seed: UInt64 = 1
  /// How much faster the sender's clock runs, in millionths.
  var drift = 0.0

  /// A CELT packet of 20 ms.
  static let packet: [UInt8] = [0xF8, 1, 2, 3]

  func run() -> Listening.Result {
    var random = SeededGenerator(seed: seed)
    var arriving: [ReceivedAudio] = []
    // A faster clock sends more.
    for index in 0..<Int(seconds * (50 + abs(drift) * 1e-4)) {
      let second = Double(index) * 0.02 / (1 + drift * 1e-6)
      let delay = trace.delay(second, &random)
      guard random.nextUnit() >= trace.loss else { continue }
      arriving.append(
        ReceivedAudio(
          payload: Self.packet, number: Int64(index), timestamp: RTPTimestamp(4_294_000_000 &+ UInt32(index * 960)),
          marker: false, received: Timestamp.zero + TimeDelta.seconds(second + delay / 1_000)))
    }
    arriving.sort { $0.received < $1.received }
    var buffer = AudioJitterBuffer()
    var result = Listening.Result(statistics: buffer.statistics)
    var next = 0
    var pending = 0.0
    var rest = 0
    for block in 0..<Int(seconds * 100) {
      let now = Timestamp.zero + .milliseconds(Int64(block) * 10) + .microseconds(3_700)
      while next < arriving.count, arriving[next].received <= now {
        buffer.insert(arriving[next])
        next += 1
      }
      func fill(_ count: Double) {
        while pending < count { pending += Self.samples(buffer.next(heardAt: now + .seconds(pending / 48_000))) }
      }
      fill(498)
      let pace = buffer.pace(pending: Int(pending), at: now)
      if rest <= 0, pace.stretch != .none {
        if pace.stretch == .shorten {
          while pending < 1_456, buffer.canContinue {
            pending += Self.samples(buffer.next(heardAt: now + .seconds(pending / 48_000)))
          }
        }
        let period =
          pace.stretch == .shorten ? min(360, (Int(pending) - 16) / 2, Int(pace.excess.seconds * 48_000)) : -360
        if abs(period) >= 120 {
          pending -= Double(period)
          buffer.noteStretched(by: period)
          rest = pace.excess > .milliseconds(150) ? 480 : 4 * abs(period)
        }
      }
      fill(498)
      pending -= 480 * pace.ratio
      rest -= 480
      result.delays.append(buffer.statistics.delay.seconds * 1_000)
      result.targets.append(buffer.target.seconds * 1_000)
    }
    result.statistics = buffer.statistics
    return result
  }

  private static func samples(_ step: AudioJitterBuffer.Step) -> Double {
    switch step {
    case .decode(_, let skipping): Double(960 - skipping)
    case .recover(let count, _), .conceal(let count), .comfort(let count), .silence(let count): Double(count)
    }
  }
}
