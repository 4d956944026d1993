package import RTCMedia
package import RTCPrimitives
import Synchronization

/// Several sounds in one loudspeaker: their sum, bent where it would be too loud. Sounds come and go at any time, from any
/// thread; one that goes is faded out within what the device asks for next.
package final class AudioMixer: PlayoutSource {
  private struct Desk {
    var playing: [any PlayoutSource] = []
    var leaving: [any PlayoutSource] = []
  }

  private let desk = Mutex(Desk())

  /// Without sounds.
  package init() {}

  /// What is mixed now.
  package var sources: [any PlayoutSource] { desk.withLock { $0.playing } }

  /// Lets `source` be heard; one that is heard already stays so.
  package func add(_ source: any PlayoutSource) {
    desk.withLock { desk in
      desk.leaving.removeAll { $0 === source }
      if !desk.playing.contains(where: { $0 === source }) { desk.playing.append(source) }
    }
  }

  /// Takes `source` out. It is asked for sound at most once more.
  package func remove(_ source: any PlayoutSource) {
    desk.withLock { desk in
      guard let index = desk.playing.firstIndex(where: { $0 === source }) else { return }
      desk.leaving.append(desk.playing.remove(at: index))
    }
  }

  /// See `PlayoutSource.render(sampleCount:delay:)`.
  package func render(sampleCount: Int, delay: TimeDelta) -> [Float] {
    let count = max(0, sampleCount)
    // A source may take itself out from inside its render.
    let (playing, leaving) = desk.withLock { desk in
      defer { desk.leaving = [] }
      return (desk.playing, desk.leaving)
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
