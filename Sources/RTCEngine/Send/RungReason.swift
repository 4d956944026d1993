/// Why a viewer is on its rung of a track that has two: the main rung, or the side rung, whose rate is smaller and whose
/// key frames are its own.
public enum RungReason: String, Hashable, Sendable, CaseIterable {
  /// On the main rung, where everybody belongs whose network bears it.
  case main
  /// It came while others had a picture of the main rung, and goes over at its next key frame.
  case joined
  /// It asked for a key frame (PLI, FIR).
  case request
  /// It lost more than repair can bring in time.
  case loss
  /// Frames were left out because its network did not keep up.
  case backlog
  /// Its network bears less than the main rung needs.
  case slow
  /// It cannot decode what the main rung is coded with.
  case codec
}
