/// Whether somebody hears their own voice again.
public enum EchoCancellation: Hashable, Sendable {
  /// Playout or recording has not started.
  case unknown
  /// The sound server does it; its name for what does.
  case soundServer(String)
  /// Nobody does; the sentence says what to do (wear headphones, load a module).
  case none(String)
}
