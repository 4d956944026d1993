package import RTCEngine
package import RTCMedia
package import RTCPrimitives
import Synchronization

/// One incoming sound on its way to a loudspeaker: fed with its packets by the connection's thread, asked for sound by the
/// device's, in any amounts. All of it may be called from any thread; nothing waits for a device.
package final class AudioPlayout: PlayoutSource {
  /// Statistics of the received and played sound.
  package struct Statistics: Hashable, Sendable {
    /// Packets received, lost, late and recovered; concealed samples; the delay and its target.
    package var buffer = AudioJitterBuffer.Statistics()
    /// How much faster than ours the sender's clock runs, in millionths, as resampling has made up for of late.
    package var drift = 0.0
    /// Packets dropped since no device asked for sound.
    package var packetsUnheard = 0

    /// The defaults.
    package init() {}
  }

  /// A sender's time and the local time at which it is heard: the input of lip sync.
  package struct Heard: Hashable, Sendable {
    /// At 48 kHz.
    package var timestamp: RTPTimestamp
    /// On the monotonic clock.
    package var time: Timestamp
  }

  /// The state shared by both threads, locked for moments.
  private struct Shared {
    var packets: [ReceivedAudio] = []
    var sinks: [any AudioSink] = []
    var isEnabled = true
    var volume: Float = 1
    var addedDelay = TimeDelta.zero
    var turn = Turn.idle
    var statistics = Statistics()
    var heard: Heard?
  }

  /// The thread that may call the sinks.
  private enum Turn {
    case idle
    case rendering
    /// The sound has ended during rendering: the rendering thread notifies the sinks.
    case endingAfterRender
    case ended
  }

  /// The state of the rendering thread.
  private struct Voice {
    let maker: AudioBlockMaker
    /// Stereo sound that was made and not asked for yet.
    var rest: [Float] = []
    /// The gain at the end of the last block.
    var gain: Float = 1
    /// Sinks get no sound before the first packet.
    var hasBegun = false
  }

  /// 8 s of packets of 20 ms, as many as the jitter buffer holds.
  private static let largestInbox = 400
  private static let largestVolume: Float = 10

  private let clock: @Sendable () -> Timestamp
  private let shared = Mutex(Shared())
  private let voice: Mutex<Voice>

  /// - Parameters:
  ///   - decoder: for 1 or 2 channels; used on the rendering thread.
  ///   - clock: the clock of `ReceivedAudio.received`.
  package init(
    decoder: sending any AudioDecoder, options: AudioJitterBuffer.Options = AudioJitterBuffer.Options(),
    clock: @escaping @Sendable () -> Timestamp
  ) {
    self.clock = clock
    voice = Mutex(Voice(maker: AudioBlockMaker(decoder: decoder, options: options)))
  }

  // MARK: In

  /// Takes a packet, in any order; from the connection's thread.
  package func receive(_ packet: ReceivedAudio) {
    shared.withLock { shared in
      if case .ended = shared.turn { return }
      if shared.packets.count >= Self.largestInbox {
        shared.packets.removeFirst()
        shared.statistics.packetsUnheard += 1
      }
      shared.packets.append(packet)
    }
  }

  /// Ends the sound. The sinks are notified, on this thread or on the one that is calling them.
  package func end() {
    let sinks = shared.withLock { shared -> [any AudioSink] in
      switch shared.turn {
      case .ended, .endingAfterRender: return []
      case .rendering:
        shared.turn = .endingAfterRender
        return []
      case .idle: return Self.end(&shared)
      }
    }
    for sink in sinks { sink.audioDidEnd() }
  }

  private static func end(_ shared: inout Shared) -> [any AudioSink] {
    defer { shared.sinks = [] }
    shared.turn = .ended
    shared.packets = []
    return shared.sinks
  }

  // MARK: Settings

  /// False makes it silent; it is received on, and the sinks get silence.
  package var isEnabled: Bool {
    get { shared.withLock { $0.isEnabled } }
    set { shared.withLock { $0.isEnabled = newValue } }
  }

  /// The volume in the loudspeaker, 0…10; 1 is unchanged. The sinks get the sound unchanged.
  package var volume: Float {
    get { shared.withLock { $0.volume } }
    set { shared.withLock { $0.volume = newValue.isNaN ? 0 : max(0, min(Self.largestVolume, newValue)) } }
  }

  /// Added to the delay that the network asks for, e.g. to wait for the picture; 0…2 s.
  package var addedDelay: TimeDelta {
    get { shared.withLock { $0.addedDelay } }
    set { shared.withLock { $0.addedDelay = newValue } }
  }

  /// Adds a sink for the sound, in stereo, as it is played, until the sound ends or the sink is removed. After `end`
  /// the sink is notified at once.
  package func add(_ sink: any AudioSink) {
    let isOver = shared.withLock { shared in
      if case .ended = shared.turn { return true }
      shared.sinks.append(sink)
      return false
    }
    if isOver { sink.audioDidEnd() }
  }

  /// A call that is under way may be the sink's last.
  package func remove(_ sink: any AudioSink) { shared.withLock { $0.sinks.removeAll { $0 === sink } } }

  // MARK: Reading

  /// Since the start. Any thread.
  package var statistics: Statistics { shared.withLock { $0.statistics } }

  /// The last sound for the device; nil before the first.
  package var lastHeard: Heard? { shared.withLock { $0.heard } }

  // MARK: Out

  /// Silence while another thread is just being given the sound.
  package func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    let wanted = max(0, sampleCount) * 2
    let sound = voice.withLockIfAvailable { voice -> [Float] in
      guard beginTurn(&voice) else { return [] }
      defer { endTurn() }
      let now = clock()
      while voice.rest.count < wanted {
        let heardAt = now + delay + .nanoseconds(Int64(voice.rest.count / 2) * 62_500 / 3)
        voice.rest += block(&voice, now, heardAt)
      }
      let sound = Array(voice.rest[..<wanted])
      voice.rest.removeFirst(wanted)
      return sound
    }
    guard let sound, sound.count == wanted else { return [Float](repeating: 0, count: wanted) }
    return sound
  }

  /// Takes the arrived packets; false if the sound has ended.
  private func beginTurn(_ voice: inout Voice) -> Bool {
    let (packets, addedDelay, isOver) = shared.withLock { shared -> ([ReceivedAudio], TimeDelta, Bool) in
      guard case .idle = shared.turn else { return ([], .zero, true) }
      shared.turn = .rendering
      defer { shared.packets.removeAll(keepingCapacity: true) }
      return (shared.packets, shared.addedDelay, false)
    }
    guard !isOver else { return false }
    voice.maker.addedDelay = addedDelay
    for packet in packets { voice.maker.insert(packet) }
    if !packets.isEmpty { voice.hasBegun = true }
    return true
  }

  private func endTurn() {
    let sinks = shared.withLock { shared -> [any AudioSink] in
      if case .endingAfterRender = shared.turn { return Self.end(&shared) }
      shared.turn = .idle
      return []
    }
    for sink in sinks { sink.audioDidEnd() }
  }

  /// The next 10 ms in stereo, played from `heardAt` on.
  private func block(_ voice: inout Voice, _ now: Timestamp, _ heardAt: Timestamp) -> [Float] {
    let made = voice.maker.nextBlock(at: now)
    var sound = voice.maker.channels == 2 ? made.samples : made.samples.flatMap { [$0, $0] }
    let (sinks, isEnabled, volume) = shared.withLock { shared in
      shared.statistics.buffer = voice.maker.statistics
      shared.statistics.drift = voice.maker.drift
      if let timestamp = made.timestamp { shared.heard = Heard(timestamp: timestamp, time: heardAt) }
      return (shared.sinks, shared.isEnabled, shared.volume)
    }
    if voice.hasBegun, !sinks.isEmpty {
      let samples = isEnabled ? sound : [Float](repeating: 0, count: sound.count)
      let frame = AudioFrame(format: .opus, samples: samples, captureTime: heardAt)
      for sink in sinks { sink.hear(frame) }
    }
    let gain = isEnabled ? volume : 0
    Self.scale(&sound, from: voice.gain, to: gain)
    voice.gain = gain
    return sound
  }

  /// Scales linearly from one gain to the other, since a step would be audible.
  private static func scale(_ sound: inout [Float], from start: Float, to end: Float) {
    if start == 1, end == 1 { return }
    let step = (end - start) / Float(max(1, sound.count / 2))
    for index in sound.indices { sound[index] *= start + step * Float(index / 2 + 1) }
  }
}
