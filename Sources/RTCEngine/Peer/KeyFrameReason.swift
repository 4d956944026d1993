/// Why a remote peer needs a key frame.
package enum KeyFrameReason: String, Hashable, Sendable {
  /// The viewer has no picture yet, or the format changes.
  case begin
  /// The viewer asked for it (PLI, FIR).
  case request
  /// Frames were left out because its network did not keep up; what waited has left by now.
  case backlog
  /// Too much was lost: repair would take longer than a key frame.
  case loss
}
