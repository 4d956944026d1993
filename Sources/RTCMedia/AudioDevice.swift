public import RTCPrimitives

/// A microphone and a loudspeaker, replaceable as a whole by an application (docs/features.md S0.75, S4.1).
public protocol AudioDevice: AnyObject, Sendable {
  /// What is sent in calls; its own `startCapture` and `stopCapture` open and close the microphone.
  var microphone: any AudioSource { get }

  /// Begins to take sound from `source` and to play it; returns at once. A second start replaces the source.
  func startPlayout(source: any PlayoutSource)

  /// Ends playing. After it returns the source is not asked any more.
  func stopPlayout()

  /// How the device keeps what it plays out of what its microphone hears; known once both run.
  var echoCancellation: EchoCancellation { get }
}

/// Has the audio that is to be played.
public protocol PlayoutSource: AnyObject, Sendable {
  /// The next `sampleCount` samples of each channel at 48 kHz stereo, interleaved; silence where nothing is to be heard.
  /// Called from the device's own thread, which must not wait.
  ///
  /// - Parameter delay: how long until the first of them is heard.
  func render(sampleCount: Int, delay: TimeDelta) -> [Float]
}

/// Whether somebody hears their own voice again.
public enum EchoCancellation: Hashable, Sendable {
  /// Playout or recording has not started.
  case unknown
  /// The sound server does it; its name for what does.
  case soundServer(String)
  /// Nobody does; the sentence says what to do (wear headphones, load a module).
  case none(String)
}
