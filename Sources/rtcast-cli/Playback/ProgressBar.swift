import RTCCaptureFile
import RTCPrimitives

/// How far a file has played, as one short line.
package struct ProgressBar: Hashable, Sendable {
  /// Seconds.
  package var position: Double
  /// The duration in seconds; nil if unknown.
  package var duration: Double?
  package var isPaused: Bool
  package var isMuted: Bool

  package init(position: Double, duration: Double?, isPaused: Bool = false, isMuted: Bool = false) {
    self.position = position
    self.duration = duration
    self.isPaused = isPaused
    self.isMuted = isMuted
  }

  init(_ player: FilePlayer) {
    self.init(
      position: player.position.seconds, duration: player.duration?.seconds, isPaused: player.playback == .paused,
      isMuted: player.isMuted)
  }

  /// - Parameter width: of the bar alone, in characters.
  package func text(width: Int) -> String {
    var parts = [isPaused ? "⏸" : "▶", Self.clock(position)]
    if let duration, duration > 0 {
      let share = min(max(position / duration, 0), 1)
      let done = Int((share * Double(width)).rounded())
      parts.append(String(repeating: "━", count: done) + String(repeating: "─", count: max(0, width - done)))
      parts.append(Self.clock(duration))
    }
    if isMuted { parts.append("muted") }
    return parts.joined(separator: " ")
  }

  /// Minutes and seconds, hours when there are any.
  static func clock(_ seconds: Double) -> String {
    let whole = Int(max(0, seconds))
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (whole / 3600, whole / 60 % 60)
    return hours > 0 ? "\(hours):\(two(minutes)):\(two(whole % 60))" : "\(minutes):\(two(whole % 60))"
  }
}
