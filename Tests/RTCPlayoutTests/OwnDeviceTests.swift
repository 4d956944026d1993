import FeatureKit
import Glibc
import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Synchronization
import Testing

/// An application's own device: its microphone is a tone that is edited before it is sent, its loudspeaker a list. It runs
/// when the test says so.
private final class StudioDevice: AudioDevice {
  /// Hears a tone of full height and hands on what the editing makes of it.
  final class Microphone: AudioSource {
    private struct State {
      var consumer: (any AudioConsumer)?
      var position = 0
    }
    private let state = Mutex(State())
    private let edit: @Sendable ([Float]) -> [Float]

    init(edit: @escaping @Sendable ([Float]) -> [Float]) { self.edit = edit }

    func startCapture(consumer: any AudioConsumer) {
      state.withLock { $0.consumer = consumer }
      consumer.audioCaptureDidStart(.success(.opus))
    }

    func stopCapture() { state.withLock { $0.consumer = nil } }

    func run(_ count: Int, at time: Timestamp) {
      let (consumer, start) = state.withLock { state in
        defer { state.position += count }
        return (state.consumer, state.position)
      }
      let sound = (start..<(start + count)).flatMap { index in
        let value = Float(sin(2 * .pi * 500 * Double(index) / 48_000))
        return [value, value]
      }
      consumer?.consume(AudioFrame(format: .opus, samples: edit(sound), captureTime: time))
    }
  }

  let microphone: any AudioSource
  private let voice: Microphone
  private let source = Mutex<(any PlayoutSource)?>(nil)
  private let played = Mutex<[Float]>([])

  init(edit: @escaping @Sendable ([Float]) -> [Float]) {
    voice = Microphone(edit: edit)
    microphone = voice
  }

  func startPlayout(source: any PlayoutSource) { self.source.withLock { $0 = source } }
  func stopPlayout() { source.withLock { $0 = nil } }
  var echoCancellation: EchoCancellation { .none("The studio has headphones.") }
  var heard: [Float] { played.withLock { $0 } }

  /// A device's cycle: as much from the microphone as to the loudspeaker.
  func run(_ count: Int, at time: Timestamp) {
    voice.run(count, at: time)
    guard let source = source.withLock({ $0 }) else { return }
    let sound = source.render(sampleCount: count, delay: .milliseconds(5))
    played.withLock { $0 += stride(from: 0, to: sound.count, by: 2).map { sound[$0] } }
  }
}

/// The way of a call: what the microphone gives is coded and received by a playout.
private final class Way: AudioConsumer {
  private struct State {
    let encoder: OpusAudioEncoder
    var samples: [Float] = []
    var number: Int64 = 0
    var position: UInt32 = 0
  }
  private let state: Mutex<State>
  private let playout: AudioPlayout
  private let clock: HandClock

  /// - Parameter sendsSilence: silence is sent like any sound, and the playout makes up nothing in its place.
  init(to playout: AudioPlayout, sendsSilence: Bool, clock: HandClock) throws {
    var settings = AudioEncoderSettings()
    settings.channels = 2
    settings.usesDiscontinuousTransmission = !sendsSilence
    state = Mutex(State(encoder: try OpusAudioEncoder(settings)))
    self.playout = playout
    self.clock = clock
  }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {}
  func audioCaptureDidEnd(_ reason: CaptureEnd) {}

  func consume(_ frame: AudioFrame) {
    state.withLock { state in
      state.samples += frame.samples
      while state.samples.count >= 1_920 {
        if let packet = try? state.encoder.encode(Array(state.samples[..<1_920])) {
          playout.receive(
            ReceivedAudio(
              payload: packet, number: state.number, timestamp: RTPTimestamp(state.position), marker: false,
              received: clock.now))
          state.number += 1
        }
        state.position += 960
        state.samples.removeFirst(1_920)
      }
    }
  }
}

@Suite struct OwnDevices {
  /// A call of some seconds with a device of cycles of `cycle` samples.
  private func call(
    seconds: Int = 2, cycle: Int, sendsSilence: Bool = false, edit: @escaping @Sendable ([Float]) -> [Float]
  ) throws -> (heard: [Float], tapped: [Float]) {
    let clock = HandClock()
    let device = StudioDevice(edit: edit)
    let playout = AudioPlayout(decoder: try OpusAudioDecoder(channels: 2)) { clock.now }
    let recorder = Recorder()
    playout.add(recorder)
    let mixer = AudioMixer()
    mixer.add(playout)
    device.startPlayout(source: mixer)
    device.microphone.startCapture(consumer: try Way(to: playout, sendsSilence: sendsSilence, clock: clock))
    for index in 0..<(seconds * 48_000 / cycle) {
      device.run(cycle, at: clock.now)
      clock.advance(.nanoseconds(Int64((index + 1) * cycle) * 62_500 / 3 - (clock.now - Timestamp.zero).nanoseconds))
    }
    device.microphone.stopCapture()
    device.stopPlayout()
    device.run(cycle, at: clock.now)
    return (device.heard, recorder.left)
  }

  @Test(.feature("S0.75", "S4.5"), arguments: [441, 480, 1_024])
  func `an application's device of any cycle carries a call`(cycle: Int) throws {
    let (heard, _) = try call(cycle: cycle) { $0.map { 0.4 * $0 } }
    #expect(heard.count == 2 * 48_000 / cycle * cycle)
    #expect(abs(ToneMeasure.frequency(heard[24_000...]) - 500) < 1)
    #expect(ToneMeasure.longestGap(heard[24_000...]) < 2)
  }

  @Test(.feature("S0.76")) func `sound is edited before it is sent, and what is received is tapped raw`() throws {
    let (heard, tapped) = try call(cycle: 480) { $0.map { 0.25 * $0 } }
    for sound in [heard, tapped] {
      #expect(sound[24_000...].max().map { (0.2...0.3).contains($0) } == true)
      #expect(abs(ToneMeasure.frequency(sound[24_000...]) - 500) < 1)
    }
    #expect(tapped.count % 480 == 0 && tapped.count > 80_000)
  }

  @Test(.feature("S0.77")) func `a device that mutes in the middle of a call is silent at the other end meanwhile`()
    throws
  {
    let position = Mutex(0)
    let (heard, _) = try call(seconds: 6, cycle: 480, sendsSilence: true) { sound in
      let second = position.withLock { position in
        defer { position += sound.count / 2 }
        return position / 48_000
      }
      let isMuted = (2..<4).contains(second)
      return sound.map { isMuted ? 0 : 0.4 * $0 }
    }
    // The codec and the playout delay sound by less than half a second.
    for tone in [heard[24_000..<96_000], heard[216_000..<288_000]] {
      #expect(abs(ToneMeasure.frequency(tone) - 500) < 1)
      #expect(ToneMeasure.longestGap(tone) < 2)
    }
    #expect(heard[120_000..<192_000].allSatisfy { abs($0) < 1e-3 })
  }
}
