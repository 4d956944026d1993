/// Why a viewer is on its rung of a track that has two: the main rung, or the side rung, whose rate is smaller and whose
/// key frames are its own.
public enum RungReason: String, Hashable, Sendable, CaseIterable {
  /// The viewer is on the main rung: its bandwidth suffices.
  case main
  /// It joined while others had a picture of the main rung, and changes at its next key frame.
  case joined
  /// It asked for a key frame (PLI, FIR).
  case request
  /// It lost more packets than can be repaired in time.
  case loss
  /// Frames were left out because its network did not keep up.
  case backlog
  /// Its bandwidth is less than the main rung needs.
  case slow
  /// It cannot decode the main rung's format.
  case codec
}
