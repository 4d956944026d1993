package import RTCMedia
package import RTCPrimitives
import Synchronization

/// Mixes several sounds for one loudspeaker: their sum, limited softly. Sources may be added and removed at any time,
/// on any thread; a removed one is faded out within the device's next request.
package final class AudioMixer: PlayoutSource {
  private struct State {
    var playing: [any PlayoutSource] = []
    var leaving: [any PlayoutSource] = []
  }

  private let state = Mutex(State())

  /// Without sounds.
  package init() {}

  /// The sources being mixed.
  package var sources: [any PlayoutSource] { state.withLock { $0.playing } }

  /// Adds `source`; without effect if it is there already.
  package func add(_ source: any PlayoutSource) {
    state.withLock { state in
      state.leaving.removeAll { $0 === source }
      if !state.playing.contains(where: { $0 === source }) { state.playing.append(source) }
    }
  }

  /// Removes `source`, which is asked for sound at most once after that.
  package func remove(_ source: any PlayoutSource) {
    state.withLock { state in
      guard let index = state.playing.firstIndex(where: { $0 === source }) else { return }
      state.leaving.append(state.playing.remove(at: index))
    }
  }

  /// The mix of all sources; see `PlayoutSource.render(sampleCount:delay:)`.
  package func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    let count = max(0, sampleCount)
    // A source may take itself out from inside its render.
    let (playing, leaving) = state.withLock { state in
      defer { state.leaving = [] }
      return (state.playing, state.leaving)
    }
    var sum = [Float](repeating: 0, count: count * 2)
    for source in playing {
      let sound = source.render(sampleCount: count, delay: delay)
      for index in 0..<min(sum.count, sound.count) { sum[index] += sound[index] }
    }
    for source in leaving {
      let sound = source.render(sampleCount: count, delay: delay)
      for index in 0..<min(sum.count, sound.count) {
        sum[index] += sound[index] * (1 - Float(index / 2 + 1) / Float(count))
      }
    }
    for index in sum.indices { sum[index] = SoftClip.bend(sum[index]) }
    return sum
  }
}

/// Keeps sound below full scale without hard clipping: quiet samples are unchanged, loud ones approach 1 and never
/// reach it.
enum SoftClip {
  /// Below this nothing changes: −2 dB.
  private static let knee: Float = 0.8

  /// Silence for NaN.
  static func bend(_ sample: Float) -> Float {
    let size = abs(sample)
    if size <= knee { return sample }
    guard size.isFinite else { return size.isNaN ? 0 : (sample < 0 ? -1 : 1) }
    let excess = (size - knee) / (1 - knee)
    // Continues with the slope of the linear part.
    let bent = knee + (1 - knee) * excess / (1 + excess)
    return sample < 0 ? -bent : bent
  }
}
