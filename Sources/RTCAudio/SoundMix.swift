package import RTCMedia
import RTCPrimitives

/// Adds the sounds of several inputs by their capture times: stereo at 48 kHz.
///
/// Sound is given out as soon as every input has delivered it. An input that is half a second behind another is not
/// waited for: it is silent, or has stopped. A pure value that reads no clock.
package struct SoundMix {
  /// How far the capture times of an input may leave the count of its samples before the count leaps to them, in samples.
  /// The clocks of devices differ by some samples a second.
  private static let tolerance: Int64 = 960
  /// How far an input may be behind another, in samples, and still be waited for. The capture time of an output's sound
  /// is when it will be heard, and that of a microphone's when it was: so inputs differ by the delays of both devices.
  private static let patience: Int64 = 24_000
  /// The least number of samples that are given out at once.
  private static let least: Int64 = 480
  /// A leap by more than these samples begins the sum again, without silence in between.
  private static let longestGap: Int64 = 48_000

  /// The end of each input's sound, in samples of the monotonic clock.
  private var ends: [Int: Int64] = [:]
  /// The place of the first sample of `sum`; nil before the first sound.
  private var start: Int64?
  /// Interleaved.
  private var sum: [Float] = []

  package init() {}

  /// Adds sound of an input; other formats than stereo at 48 kHz are left out.
  package mutating func add(_ frame: AudioFrame, of input: Int) {
    guard frame.format == .opus, frame.sampleCount > 0 else { return }
    var place = Self.place(frame.captureTime)
    if let end = ends[input], abs(place - end) <= Self.tolerance { place = end }
    if start.map({ abs(place - $0) > Self.longestGap }) ?? true {
      (start, sum, ends) = (place, [], [:])
    }
    let end = place + Int64(frame.sampleCount)
    ends[input] = max(end, ends[input] ?? end)
    guard let start, end > start else { return }
    // Sound whose time was given out already is left out.
    let late = Int(max(0, start - place))
    let first = Int(max(0, place - start)) * 2
    let samples = frame.samples.dropFirst(late * 2).prefix((frame.sampleCount - late) * 2)
    if sum.count < first + samples.count { sum += repeatElement(0, count: first + samples.count - sum.count) }
    for (offset, sample) in samples.enumerated() { sum[first + offset] += sample }
  }

  /// An input has ended: it is not waited for.
  package mutating func remove(_ input: Int) { ends[input] = nil }

  /// The sound that every input has delivered; nil while that is less than 10 ms.
  package mutating func take() -> AudioFrame? {
    guard let start, let newest = ends.values.max() else { return nil }
    let end = ends.values.filter { $0 >= newest - Self.patience }.min() ?? newest
    let count = min(end - start, Int64(sum.count / 2))
    guard count >= Self.least else { return nil }
    let samples = sum.prefix(Int(count) * 2).map { max(-1, min(1, $0)) }
    sum.removeFirst(samples.count)
    self.start = start + count
    return AudioFrame(format: .opus, samples: samples, captureTime: Self.time(start))
  }

  private static func place(_ time: Timestamp) -> Int64 {
    time.nanoseconds / 1_000_000 * 48 + time.nanoseconds % 1_000_000 * 48 / 1_000_000
  }

  private static func time(_ place: Int64) -> Timestamp {
    Timestamp(nanoseconds: place / 48 * 1_000_000 + place % 48 * 1_000_000 / 48)
  }
}
