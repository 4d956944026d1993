internal import RTCMedia
internal import RTCPrimitives

/// Fills the short gap between two passes of a loop whose sound is shorter than its picture, so that the sound stays
/// continuous. Without it, a consumer would assume an unsteady clock, until the gaps had added up to one that can be
/// heard.
struct SoundBridge {
  /// The longest gap that is filled; longer ones are silences.
  private static let limit = TimeDelta.milliseconds(200)
  /// The shortest gap that is filled; shorter ones come from the rounding of the container's times.
  private static let rounding = TimeDelta.milliseconds(1)
  /// The inverse of the time in which the old sound fades out and the new one fades in, so that neither clicks.
  private static let fadesPerSecond = 400

  /// The end of the last piece, and its last sample of each channel.
  private var last: (end: TimeDelta, format: AudioFormat, samples: [Float])?

  /// Whether the next piece is the first of another pass.
  private var isAtSeam = false

  mutating func passEnded() { isAtSeam = true }

  /// The sound that fills the gap between the last piece and this one; nil when there is none to fill.
  mutating func filling(before piece: SoundPiece) -> SoundPiece? {
    let before = isAtSeam ? last : nil
    isAtSeam = false
    last = (piece.end, piece.format, Array(piece.samples.suffix(piece.format.channels)))
    guard let before, before.format == piece.format else { return nil }
    let hole = piece.time - before.end
    guard hole > Self.rounding, hole <= Self.limit else { return nil }
    let rate = piece.format.sampleRate
    let count = Int((hole.seconds * Double(rate)).rounded())
    let fade = max(1, min(rate / Self.fadesPerSecond, count / 2))
    var samples: [Float] = []
    samples.reserveCapacity(count * piece.format.channels)
    for index in 0..<count {
      let old = Float(max(0, fade - index - 1)) / Float(fade)
      let new = Float(max(0, index - (count - fade) + 1)) / Float(fade + 1)
      for channel in 0..<piece.format.channels {
        samples.append(before.samples[channel] * old + piece.samples[channel] * new)
      }
    }
    return SoundPiece(format: piece.format, samples: samples, time: before.end)
  }
}
