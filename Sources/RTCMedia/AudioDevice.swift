/// A microphone and a loudspeaker, replaceable as a whole by an application (Tests/features.md S0.75, S4.1).
public protocol AudioDevice: AnyObject, Sendable {
  /// The microphone for calls; its `startCapture` and `stopCapture` open and close it.
  var microphone: any AudioSource { get }

  /// Begins to take sound from `source` and to play it; returns at once. A second start replaces the source.
  func startPlayout(source: any PlayoutSource)

  /// Ends playing. After it returns the source is not asked any more.
  func stopPlayout()

  /// The echo cancellation between loudspeaker and microphone; known once both run.
  var echoCancellation: EchoCancellation { get }
}
