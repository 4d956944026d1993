/// Why a remote peer needs a key frame.
package enum KeyFrameReason: String, Hashable, Sendable {
  /// It has no picture yet, or what it is sent is coded otherwise from now on.
  case begin
  /// It asked for one (PLI, FIR).
  case request
  /// Frames were left out because its network did not keep up; what waited has left by now.
  case backlog
  /// Too much was lost: repair would take longer than a key frame.
  case loss
}
