public import RTCMedia
import RTCNet
import RTCPrimitives
import Synchronization

/// An audio device without a loudspeaker: consumes received sound in real time, so that sinks of the tracks receive it
/// on machines without a sound server. Its microphone is another source, or silence.
public final class SilentAudioDevice: AudioDevice {
  /// Silent.
  public let microphone: any AudioSource
  private let run = Mutex<PlayoutRun?>(nil)

  /// - Parameter microphone: the sound sent in calls; nil: there is no microphone.
  public init(microphone: (any AudioSource)? = nil) { self.microphone = microphone ?? NoMicrophone() }

  deinit { stopPlayout() }

  /// Starts to consume sound of `source`.
  public func startPlayout(source: any PlayoutSource) {
    stopPlayout()
    let new = PlayoutRun(source)
    new.thread.withLock { $0 = try? NamedThread(name: "rtc-silence") { new.loop() } }
    run.withLock { $0 = new }
  }

  /// Stops consuming sound.
  public func stopPlayout() {
    let old = run.withLock { run in
      defer { run = nil }
      return run
    }
    old?.stop()
  }

  /// No echo cancellation: nothing is played.
  public var echoCancellation: EchoCancellation { .none("Nothing is played, so nothing can be heard again.") }
}

/// Asks for 10 ms of sound every 10 ms.
private final class PlayoutRun: Sendable {
  let thread = Mutex<NamedThread?>(nil)
  private let source: any PlayoutSource
  private let isOpen = Atomic(true)
  private let bell = Waiter()

  init(_ source: any PlayoutSource) { self.source = source }

  func loop() {
    var due = MonotonicClock.now()
    while isOpen.load(ordering: .acquiring) {
      _ = source.render(sampleCount: 480, delay: .zero)
      due = due + .milliseconds(10)
      bell.wait(until: due)
    }
  }

  func stop() {
    isOpen.store(false, ordering: .releasing)
    bell.ring()
    thread.withLock { $0 }?.join()
  }
}

/// Starts at once, and is silent.
private final class NoMicrophone: AudioSource {
  func startCapture(consumer: any AudioConsumer) {
    consumer.audioCaptureDidStart(.failure(.noSuchSource("There is no microphone; choose an audio device.")))
  }

  func stopCapture() {}
}
