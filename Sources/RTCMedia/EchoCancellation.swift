/// The echo cancellation of an audio device.
public enum EchoCancellation: Hashable, Sendable {
  /// Playout or recording has not started.
  case unknown
  /// The sound server cancels the echo; the name of its module.
  case soundServer(String)
  /// There is none; the sentence gives the remedy (wear headphones, load a module).
  case none(String)
}
