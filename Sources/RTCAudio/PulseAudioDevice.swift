import RTCNet
public import RTCMedia
import RTCPrimitives
import Synchronization

/// The microphone and the loudspeaker of a PulseAudio server, or of PipeWire through pipewire-pulse, for calls.
///
/// Both follow the server's default devices, survive restarts of the server, and ask it to cancel echo. Playing is 40
/// ms ahead of the loudspeaker, more on a machine that is often late.
public final class PulseAudioDevice: AudioDevice {
  /// The microphone for calls; follows the server's default input unless a device was chosen.
  public let microphone: any AudioSource
  private let output: String?
  private let server: String?
  private let onNotice: @Sendable (String) -> Void
  private let thread = WorkerThread()
  private let slot = Mutex<PlayoutSlot?>(nil)
  private let echo: EchoWatch

  /// Makes a device without opening it.
  ///
  /// - Parameters:
  ///   - microphone: the input.
  ///   - output: the output for received sound, by name or description as in `pactl list sinks`; nil follows the
  ///     default output.
  ///   - server: as in PULSE_SERVER (`unix:/run/user/1000/pulse/native`, `tcp:host:4713`); nil for PULSE_SERVER and the
  ///     library's own search.
  ///   - onNotice: gets a sentence when sound is unavailable, stops, returns or changes its device, and once if echo is
  ///     not cancelled; called on the device's threads.
  public init(
    microphone: PulseTarget = .microphone, output: String? = nil, server: String? = nil,
    onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.output = output
    self.server = server
    self.onNotice = onNotice
    let echo = EchoWatch(onNotice)
    self.echo = echo
    self.microphone = PulseAudioSource(microphone, server: server, .call, onNotice: onNotice) { echo.note(input: $0) }
  }

  /// The echo cancellation; known once both run. Any thread.
  public var echoCancellation: EchoCancellation { echo.state }

  /// Without a server, or without an output, the source is asked all the same, at the pace of the clock, and the sound
  /// passes unheard until there is one.
  public func startPlayout(source: any PlayoutSource) {
    let refusal = slot.withLock { slot -> SystemError? in
      if let slot { slot.put(source) } else { slot = PlayoutSlot(source) }
      guard let slot else { return nil }
      let (output, server, onNotice, echo) = (output, server, onNotice, echo)
      do throws(SystemError) {
        // False while one runs, which finds the source in its slot.
        _ = try thread.start(name: "rtc-playout") { run in
          PulsePlayout(output, server: server, slot, run, onNotice, echo).run()
        }
        return nil
      } catch {
        return error
      }
    }
    if let refusal { onNotice("Received sound cannot be played. \(refusal)") }
  }

  /// Ends playout and waits for its thread, unless called on it. Any thread, any number of times.
  public func stopPlayout() {
    slot.withLock { $0 = nil }
    // Not under the lock: the thread that is waited for may be inside of a source that starts another.
    thread.stop()
  }
}
