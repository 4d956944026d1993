package import RTCEngine
package import RTCMedia
package import RTCPrimitives
import RTCWire

/// Turns the packets of one sound into exact blocks of 10 ms at 48 kHz. Missing packets are concealed. The sound is
/// stretched inaudibly and resampled slightly, so that its delay stays as small as the network allows. Used by one
/// thread at a time; reads no clock.
package final class AudioBlockMaker {
  /// A block of 10 ms.
  package struct Block: Sendable {
    /// 480 samples of each channel, interleaved.
    package var samples: [Float]
    /// The sender's time of the first sample; nil while there is no sound.
    package var timestamp: RTPTimestamp?
  }

  /// Samples of each channel in a block.
  package static let blockSize = 480
  /// Played sound that is kept: for the filter, and to repeat a piece of.
  private static let history = 960
  /// Sound that stays below this is silence; full scale is 1.
  private static let silencePeak: Float = 0.001

  package let channels: Int
  private let decoder: any AudioDecoder
  private var buffer: AudioJitterBuffer
  private var clock = PullClock()
  private let filter = FractionalDelayFilter.shared
  /// Decoded sound, `head` of it played. Always holds at least the history.
  private var samples: [Float]
  private var head: Int
  /// How far between `head` and the next sample playing stands, 0..<1.
  private var fraction = 0.0
  /// The position in the sender's time that follows the last sample; nil before the first packet.
  private var end: RTPTimestamp?
  private var wasSilent = true
  /// Whether the last packet decoded to silence.
  private var decodedSilence = false
  /// Samples to be played before another stretch.
  private var rest = 0
  /// How much faster than ours the sender's clock runs, in millionths, as far as resampling follows it; an average of some
  /// ten seconds.
  package private(set) var drift = 0.0

  package init(decoder: any AudioDecoder, options: AudioJitterBuffer.Options = AudioJitterBuffer.Options()) {
    self.decoder = decoder
    channels = max(1, decoder.channels)
    buffer = AudioJitterBuffer(options)
    head = Self.history
    samples = Array(repeating: 0, count: Self.history * channels)
  }

  package var statistics: AudioJitterBuffer.Statistics { buffer.statistics }

  /// The target delay of the sound, beyond the fastest transit.
  package var target: TimeDelta { buffer.target }

  /// Added to the delay that the network asks for, e.g. to wait for the picture; 0…2 s.
  package var addedDelay: TimeDelta {
    get { buffer.addedDelay }
    set { buffer.addedDelay = newValue }
  }

  /// Takes a packet; in any order.
  package func insert(_ packet: ReceivedAudio) { buffer.insert(packet) }

  /// The next 10 ms.
  ///
  /// - Parameter now: the time of the call. Several blocks may be requested at once; only the average rate of calls
  ///   must be that of playing.
  package func nextBlock(at now: Timestamp) -> Block {
    let time = clock.pull(at: now)
    fill(FractionalDelayFilter.reach(Self.blockSize), time)
    let pace = buffer.pace(pending: pending, at: time)
    if pace.stretch != .none { stretch(pace, time) }
    // Shortening may have left too little.
    fill(FractionalDelayFilter.reach(Self.blockSize), time)
    let timestamp = end?.advanced(by: -pending)
    var block: [Float] = []
    block.reserveCapacity(Self.blockSize * channels)
    let stop = filter.read(
      samples.span, channels: channels, from: head, fraction: fraction, ratio: pace.ratio, count: Self.blockSize,
      into: &block)
    rest -= Self.blockSize
    drift += ((pace.ratio - 1) * 1e6 - drift) / 1_000
    (head, fraction) = stop
    forget()
    return Block(samples: block, timestamp: wasSilent ? nil : timestamp)
  }

  /// Samples of each channel that are decoded and not played.
  private var pending: Int { samples.count / channels - head }

  private func forget() {
    let passed = head - Self.history
    // Not each time, since the rest is moved.
    guard passed > 4 * Self.blockSize else { return }
    samples.removeFirst(passed * channels)
    head -= passed
  }

  // MARK: Decoding

  private func fill(_ count: Int, _ time: Timestamp) {
    while pending < count { step(time) }
  }

  private func step(_ time: Timestamp) {
    let heard = time + TimeDelta.nanoseconds(Int64(pending) * 62_500 / 3)
    switch buffer.next(heardAt: heard) {
    case .decode(let packet, let skipping):
      let length = OpusPacket(packet.payload)?.sampleCount ?? 960
      let sound = sound(of: packet, length: length)
      decodedSilence = sound.allSatisfy { abs($0) < Self.silencePeak }
      append(sound, length, skipping: skipping)
      end = packet.timestamp.advanced(by: length)
    case .recover(let count, let next):
      append(
        attempt(count) { () throws(AudioDecoderError) in try decoder.recover(sampleCount: count, from: next.payload) },
        count)
      end = next.timestamp
    case .conceal(let count):
      append(made(count), count)
      end = buffer.frontTimestamp
    case .comfort(let count):
      append(made(count), count)
      end = buffer.frontTimestamp
    case .silence(let count): appendSilence(count)
    }
  }

  private func sound(of packet: ReceivedAudio, length: Int) -> [Float] {
    do {
      return try decoder.decode(packet.payload)
    } catch {
      buffer.noteUndecodable()
      return made(length)
    }
  }

  /// The decoder's concealment of missing sound. libopus fills a gap with its estimate of the background, which after
  /// digital silence is loud noise: silence continues as silence.
  private func made(_ count: Int) -> [Float] {
    if decodedSilence { return [] }
    return attempt(count) { () throws(AudioDecoderError) in try decoder.conceal(sampleCount: count) }
  }

  private func attempt(_ count: Int, _ make: () throws(AudioDecoderError) -> [Float]) -> [Float] {
    do { return try make() } catch { return [] }
  }

  /// Appends decoded sound, cut or extended to `count` samples.
  private func append(_ sound: [Float], _ count: Int, skipping: Int = 0) {
    let wanted = count * channels
    let start = min(skipping * channels, wanted)
    let present = max(start, min(sound.count, wanted))
    if present > start { samples.append(contentsOf: sound[start..<present]) }
    samples.append(contentsOf: repeatElement(0, count: wanted - present))
    wasSilent = false
  }

  /// Appends silence, with a fade from the sound before.
  private func appendSilence(_ count: Int) {
    guard !wasSilent else {
      samples.append(contentsOf: repeatElement(0, count: count * channels))
      return
    }
    var faded = made(count)
    for index in faded.indices { faded[index] *= 1 - Float(index / channels) / Float(count) }
    append(faded, count)
    wasSilent = true
  }

  // MARK: Stretching

  private func stretch(_ pace: AudioJitterBuffer.Pace, _ time: Timestamp) {
    guard rest <= 0 else { return }
    let splice = head + FractionalDelayFilter.halfLength
    let isShortening = pace.stretch == .shorten
    if isShortening {
      while pending < FractionalDelayFilter.halfLength + 2 * SoundSplice.longestPeriod, buffer.canContinue {
        step(time)
      }
    }
    let milliseconds = abs(pace.excess.seconds) * 1_000
    // Leaving out more than there is too much would make packets late.
    let longest = isShortening ? Int(milliseconds * 48) : SoundSplice.longestPeriod
    // The more there is to win, the less alike the two pieces have to be.
    let likeness = Float(max(0.5, 0.95 - milliseconds / 400))
    let change = SoundSplice(channels: channels, minimumLikeness: likeness, longest: longest).apply(
      isShortening ? .leaveOut : .repeatOnce, at: splice, in: &samples)
    guard change != 0 else { return }
    buffer.noteStretched(by: change)
    // At most a quarter faster or slower, unless there is much to catch up.
    rest = milliseconds > 150 ? Self.blockSize : 4 * abs(change)
  }
}

/// Derives the playing times of blocks of 10 ms from the times of requests. A sound server requests several at once and
/// then none for a while; the time of the last of them counts, since no later packet can be in it.
struct PullClock {
  private static let block = TimeDelta.milliseconds(10)
  private static let window = 32
  /// Without a request for this time, playing was stopped.
  private static let pause = TimeDelta.milliseconds(300)

  /// How far each of the last calls came after its turn, if the first was at zero.
  private var offsets: [TimeDelta] = []
  private var count: Int64 = 0
  private var last: Timestamp?

  /// Records a request for a block.
  /// - Returns: its playing time, smoothed; at or before `now`.
  mutating func pull(at now: Timestamp) -> Timestamp {
    if let last, (now - last) > Self.pause || now < last { offsets.removeAll(keepingCapacity: true) }
    last = now
    let turn = Self.block * count
    count += 1
    offsets.append((now - .zero) - turn)
    if offsets.count > Self.window { offsets.removeFirst() }
    return Timestamp.zero + (offsets.min() ?? .zero) + turn
  }
}
