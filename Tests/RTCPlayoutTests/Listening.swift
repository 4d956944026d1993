import Glibc
import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives

/// A sender's packets, a network of a trace, and a listener who asks for a block each 10 ms, on virtual time.
struct Listening {
  var trace: DelayTrace
  var seconds: Double
  var seed: UInt64 = 1
  var options = AudioJitterBuffer.Options()
  var firstTimestamp: UInt32 = 4_294_000_000
  /// Every so many blocks are asked for at once.
  var pull = 1

  struct Result {
    var statistics: AudioJitterBuffer.Statistics
    /// The left channel, as far as it was kept.
    var sound: [Float] = []
    /// The delay after each block, in milliseconds, and the one wanted.
    var delays: [Double] = []
    var targets: [Double] = []
    /// The share of what was heard that was made up.
    var concealed: Double {
      Double(statistics.samplesConcealed) / Double(max(1, delays.count * 480))
    }
  }

  /// A tone in packets of 20 ms, a second of them, that may follow one another in a ring.
  static func tone(_ frequency: Double) throws -> [[UInt8]] {
    try packets(count: 50) { index in Float(0.4 * sin(2 * .pi * frequency * Double(index) / 48_000)) }
  }

  /// Four seconds like a voice: its pitch and loudness change all the time, so that the encoder repeats it.
  static func voice() throws -> [[UInt8]] {
    var phase = 0.0
    return try packets(count: 200, mode: .voice) { index in
      let time = Double(index) / 48_000
      phase += 2 * .pi * (140 + 50 * sin(2 * .pi * 3.1 * time)) / 48_000
      let loudness = 0.15 * (1 + sin(2 * .pi * 7 * time))
      return Float(loudness * (sin(phase) + 0.5 * sin(2 * phase) + 0.3 * sin(3 * phase) + 0.2 * sin(5 * phase)) / 2)
    }
  }

  private static func packets(
    count: Int, mode: AudioEncoderSettings.Application = .audio, _ sample: (Int) -> Float
  ) throws -> [[UInt8]] {
    var settings = AudioEncoderSettings()
    settings.channels = 1
    settings.application = mode
    settings.bitrate = mode == .voice ? 32_000 : 64_000
    settings.usesDiscontinuousTransmission = false
    settings.expectedLoss = 0.2
    let encoder = try OpusAudioEncoder(settings)
    var packets: [[UInt8]] = []
    // The encoder looks ahead and begins with silence, so the first round is left out.
    for index in 0..<(2 * count) {
      let samples = (0..<960).map { sample(index * 960 + $0) }
      if let packet = try encoder.encode(samples), index >= count { packets.append(packet) }
    }
    return packets
  }

  /// - Parameter packets: sent one each 20 ms, from the start again after the last.
  func run(_ packets: [[UInt8]], decoder: any AudioDecoder) -> Result {
    var random = SeededGenerator(seed: seed)
    let sent = Int(seconds * 50)
    var arriving: [ReceivedAudio] = []
    for index in 0..<sent {
      let second = Double(index) * 0.02
      let delay = trace.delay(second, &random)
      guard random.nextUnit() >= trace.loss else { continue }
      arriving.append(
        ReceivedAudio(
          payload: packets[index % packets.count], number: Int64(index) + 70_000,
          timestamp: RTPTimestamp(firstTimestamp &+ UInt32(index * 960)), marker: false,
          received: Timestamp.zero + TimeDelta.seconds(second + delay / 1_000)))
    }
    arriving.sort { $0.received < $1.received }
    let playout = AudioBlockMaker(decoder: decoder, options: options)
    var result = Result(statistics: playout.statistics)
    var next = 0
    for block in 0..<Int(seconds * 100) {
      // A phase of its own against the packets'.
      let now = Timestamp.zero + .milliseconds(Int64(block / pull * pull) * 10) + .microseconds(3_700)
      while next < arriving.count, arriving[next].received <= now {
        playout.insert(arriving[next])
        next += 1
      }
      let made = playout.nextBlock(at: now)
      precondition(made.samples.count == 480 * playout.channels)
      result.sound.append(contentsOf: made.samples)
      result.delays.append(playout.statistics.delay.seconds * 1_000)
      result.targets.append(playout.target.seconds * 1_000)
    }
    result.statistics = playout.statistics
    return result
  }
}

/// Measurements of a tone.
enum ToneMeasure {
  /// The frequency from rising zero crossings, in hertz.
  static func frequency(_ sound: ArraySlice<Float>) -> Double {
    var first: Double?
    var last = 0.0
    var count = 0
    for index in sound.indices.dropFirst() where sound[index - 1] < 0 && sound[index] >= 0 {
      let before = Double(sound[index - 1])
      last = Double(index - 1) + before / (before - Double(sound[index]))
      if first == nil { first = last } else { count += 1 }
    }
    guard let first, last > first else { return 0 }
    return Double(count) * 48_000 / (last - first)
  }

  /// The longest run below a hundredth of full scale, in milliseconds.
  static func longestGap(_ sound: ArraySlice<Float>) -> Double {
    var longest = 0
    var run = 0
    for sample in sound {
      run = abs(sample) < 0.01 ? run + 1 : 0
      longest = max(longest, run)
    }
    return Double(longest) / 48
  }

  /// The largest step from one sample to the next.
  static func largestStep(_ sound: ArraySlice<Float>) -> Float {
    zip(sound, sound.dropFirst()).reduce(0) { max($0, abs($1.0 - $1.1)) }
  }
}
