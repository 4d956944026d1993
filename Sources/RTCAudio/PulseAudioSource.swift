import RTCNet
public import RTCMedia
package import RTCPrimitives

/// Captures sound from PulseAudio, or PipeWire through pipewire-pulse, on its own thread: 48 kHz, stereo, in pieces of
/// about 20 ms.
///
/// It runs until it is stopped: it follows the default device and a device that is unplugged and returns, and waits for
/// a server that stops. Meanwhile there is no sound. A stream that the user moves to another device (`pavucontrol`)
/// stays there as long as that device exists.
public final class PulseAudioSource: AudioSource {
  private let target: PulseTarget
  private let server: String?
  private let startLimit: TimeDelta
  private let onNotice: @Sendable (String) -> Void
  private let purpose: PulsePurpose
  private let noteDevice: @Sendable (PulseDevice?) -> Void
  private let thread = WorkerThread()

  /// - Parameters:
  ///   - server: as PULSE_SERVER has it (`unix:/run/user/1000/pulse/native`, `tcp:host:4713`); nil for PULSE_SERVER and
  ///     the library's own search.
  ///   - onNotice: gets a sentence when sound goes away, comes back, or comes from another device; called on the capture
  ///     thread.
  public convenience init(
    _ target: PulseTarget, server: String? = nil, onNotice: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.init(target, server: server, .cast, onNotice: onNotice) { _ in }
  }

  /// - Parameter startLimit: how long the server may take to give the first sound's stream.
  package convenience init(_ target: PulseTarget, server: String, startLimit: TimeDelta) {
    self.init(target, server: server, startLimit: startLimit, .cast, onNotice: { _ in }) { _ in }
  }

  /// - Parameter noteDevice: gets the device whenever it is another, nil while there is none; on the capture thread.
  init(
    _ target: PulseTarget, server: String?, startLimit: TimeDelta = PulseCapture.defaultStartLimit,
    _ purpose: PulsePurpose, onNotice: @escaping @Sendable (String) -> Void,
    noteDevice: @escaping @Sendable (PulseDevice?) -> Void
  ) {
    self.target = target
    self.server = server
    self.startLimit = startLimit
    self.purpose = purpose
    self.onNotice = onNotice
    self.noteDevice = noteDevice
  }

  /// Connects on a thread of its own, on which the consumer gets the result. Any thread.
  public func startCapture(consumer: any AudioConsumer) {
    let (target, server, startLimit, onNotice) = (target, server, startLimit, onNotice)
    let (purpose, noteDevice) = (purpose, noteDevice)
    do throws(SystemError) {
      let isNew = try thread.start(name: "rtc-pulse") { run in
        if case .program(let name) = target {
          PulseProgramCapture(name, server: server, startLimit: startLimit, consumer, run, onNotice).run()
        } else {
          PulseCapture(target, server: server, startLimit: startLimit, consumer, run, onNotice, purpose, noteDevice)
            .run()
        }
      }
      if !isNew { consumer.audioCaptureDidStart(.failure(.alreadyStarted)) }
    } catch {
      consumer.audioCaptureDidStart(.failure(.unavailable(error.description)))
    }
  }

  /// Ends capturing; after it returns the consumer is not called any more. Any thread, any number of times.
  public func stopCapture() { thread.stop() }
}
