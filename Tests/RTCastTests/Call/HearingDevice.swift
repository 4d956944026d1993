import RTCMedia
import RTCPrimitives
import RTCast
import Synchronization

/// A device that counts what becomes of its microphone and remembers how loud its loudspeaker was.
final class HearingDevice: AudioDevice {
  private final class Microphone: AudioSource {
    private let source: any AudioSource
    private let runs = Mutex((started: 0, stopped: 0))

    init(_ source: any AudioSource) { self.source = source }

    var counts: (started: Int, stopped: Int) { runs.withLock { $0 } }

    func startCapture(consumer: any AudioConsumer) {
      runs.withLock { $0.started += 1 }
      source.startCapture(consumer: consumer)
    }

    func stopCapture() {
      runs.withLock { $0.stopped += 1 }
      source.stopCapture()
    }
  }

  /// Listens to what is played.
  private final class Ear: PlayoutSource {
    private let source: any PlayoutSource
    private let heard: AsyncStream<Float>.Continuation

    init(_ source: any PlayoutSource, _ heard: AsyncStream<Float>.Continuation) {
      (self.source, self.heard) = (source, heard)
    }

    func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
      let sound = source.render(sampleCount: sampleCount, delay: delay)
      heard.yield(sound.max() ?? 0)
      return sound
    }
  }

  let microphone: any AudioSource
  private let counted: Microphone
  private let silent = SilentAudioDevice()
  private let plays = Atomic(0)
  /// The loudest sample of each piece that was played.
  let loudness: AsyncStream<Float>
  private let heard: AsyncStream<Float>.Continuation

  init(_ source: any AudioSource) {
    counted = Microphone(source)
    microphone = counted
    (loudness, heard) = AsyncStream.makeStream(of: Float.self, bufferingPolicy: .bufferingNewest(1_024))
  }

  func startPlayout(source: any PlayoutSource) {
    plays.add(1, ordering: .relaxed)
    silent.startPlayout(source: Ear(source, heard))
  }

  func stopPlayout() { silent.stopPlayout() }
  var echoCancellation: EchoCancellation { silent.echoCancellation }

  var isListening: Bool { counted.counts.started > counted.counts.stopped }
  var timesStarted: Int { counted.counts.started }
  var timesPlayed: Int { plays.load(ordering: .relaxed) }
}
