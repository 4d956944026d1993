// SoundBenchmark [SERVER] — what the playout of one sound costs, and, with a PulseAudio server that has the null sinks
// `mouth` and `ear`, how long a sound takes from a microphone that hears `mouth` to the loudspeaker `ear`:
//
//   pulseaudio -n --daemonize=no --use-pid-file=no --exit-idle-time=-1 \
//     -L "module-native-protocol-unix auth-anonymous=1 socket=/tmp/bench.pulse" \
//     -L "module-null-sink norewinds=1 sink_name=mouth" -L "module-null-sink norewinds=1 sink_name=ear" &
//   SoundBenchmark unix:/tmp/bench.pulse

import Glibc
import RTCAudio
import RTCCodecOpus
import RTCEngine
import RTCMedia
import RTCPlayout
import RTCPrimitives
import Synchronization

func monotonicNow() -> Timestamp {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Timestamp(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
}

/// Plays 20 ms of a tone each half second.
final class Mouth: PlayoutSource {
  private let position = Mutex(0)

  func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    let start = position.withLock { position in
      defer { position += sampleCount }
      return position
    }
    return (start..<(start + sampleCount)).flatMap { index -> [Float] in
      let value = index % 24_000 < 960 ? Float(0.6 * sin(2 * .pi * 1_000 * Double(index) / 48_000)) : 0
      return [value, value]
    }
  }
}

/// Notes when tones begin.
final class Ear: AudioConsumer {
  private let heard = Mutex<(onsets: [Timestamp], quiet: Int)>(([], 48_000))
  var onsets: [Timestamp] { heard.withLock { $0.onsets } }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {
    if case .failure(let error) = result { print("\(error)") }
  }

  func audioCaptureDidEnd(_ reason: CaptureEnd) {}

  func consume(_ frame: AudioFrame) {
    heard.withLock { heard in
      for index in 0..<frame.sampleCount {
        heard.quiet += 1
        guard abs(frame.samples[2 * index]) > 0.1 else { continue }
        if heard.quiet > 4_800 {
          heard.onsets.append(frame.captureTime + .nanoseconds(Int64(index) * 62_500 / 3))
        }
        heard.quiet = 0
      }
    }
  }
}

/// Codes what it hears and hands it to a playout at once, as a network without delay would.
final class Wire: AudioConsumer {
  private struct State {
    let encoder: OpusAudioEncoder
    var samples: [Float] = []
    var number: Int64 = 0
    var position: UInt32 = 0
  }

  private let state: Mutex<State>
  private let playout: AudioPlayout

  init(to playout: AudioPlayout) throws {
    state = Mutex(State(encoder: try OpusAudioEncoder(AudioEncoderSettings())))
    self.playout = playout
  }

  func audioCaptureDidStart(_ result: Result<AudioFormat, CaptureError>) {}
  func audioCaptureDidEnd(_ reason: CaptureEnd) {}

  func consume(_ frame: AudioFrame) {
    state.withLock { state in
      state.samples += frame.samples
      while state.samples.count >= 1_920 {
        if let payload = try? state.encoder.encode(Array(state.samples[..<1_920])) {
          playout.receive(
            ReceivedAudio(
              payload: payload, number: state.number, timestamp: RTPTimestamp(state.position),
              marker: false, received: monotonicNow()))
          state.number += 1
        }
        state.position += 960
        state.samples.removeFirst(1_920)
      }
    }
  }
}

func measureMouthToEar(_ server: String, seconds: UInt32) throws {
  let report: @Sendable (String) -> Void = { print($0) }
  let speaker = PulseAudioDevice(output: "mouth", server: server)
  let listener = PulseAudioDevice(
    microphone: .device("mouth.monitor"), output: "ear", server: server, onNotice: report)
  let playout = AudioPlayout(decoder: try OpusAudioDecoder(channels: 2)) { monotonicNow() }
  let mixer = AudioMixer()
  mixer.add(playout)
  let (said, heard) = (Ear(), Ear())
  let sources = [
    PulseAudioSource(.device("mouth.monitor"), server: server), .init(.device("ear.monitor"), server: server),
  ]
  let wire = try Wire(to: playout)
  speaker.startPlayout(source: Mouth())
  listener.microphone.startCapture(consumer: wire)
  listener.startPlayout(source: mixer)
  sources[0].startCapture(consumer: said)
  sources[1].startCapture(consumer: heard)
  sleep(seconds)
  for source in sources { source.stopCapture() }
  listener.microphone.stopCapture()
  for device in [listener, speaker] { device.stopPlayout() }
  // The first two seconds settle.
  let ways = said.onsets.dropFirst(4).compactMap { start in
    heard.onsets.first { $0 > start }.map { ($0 - start).seconds * 1_000 }
  }.sorted()
  guard !ways.isEmpty else { return print("nothing was heard") }
  print(
    "mouth to ear: \(ways.count) sounds, median \(Int(ways[ways.count / 2])) ms, longest \(Int(ways[ways.count - 1])) ms; "
      + "made up: \(playout.statistics.buffer.samplesConcealed) samples")
}

/// A minute of a tone on virtual time.
func measureCost() throws {
  let encoder = try OpusAudioEncoder(AudioEncoderSettings())
  let packets = try (0..<3_000).compactMap { packet in
    try encoder.encode(
      (0..<1_920).map { Float(0.4 * sin(2 * .pi * 440 * Double(packet * 960 + $0 / 2) / 48_000)) })
  }
  let clock = Mutex(Timestamp.zero)
  let playout = AudioPlayout(decoder: try OpusAudioDecoder(channels: 2)) { clock.withLock { $0 } }
  let start = monotonicNow()
  for (index, payload) in packets.enumerated() {
    playout.receive(
      ReceivedAudio(
        payload: payload, number: Int64(index), timestamp: RTPTimestamp(UInt32(index * 960)), marker: false,
        received: clock.withLock { $0 }))
    for _ in 0..<2 {
      _ = playout.render(sampleCount: 480, delay: .zero)
      clock.withLock { $0 += .milliseconds(10) }
    }
  }
  let spent = monotonicNow() - start
  print("playout of one sound: \(spent.nanoseconds / 6_000_000) µs each 10 ms, decoding included")
}

try measureCost()
if CommandLine.arguments.count > 1 { try measureMouthToEar(CommandLine.arguments[1], seconds: 30) }
