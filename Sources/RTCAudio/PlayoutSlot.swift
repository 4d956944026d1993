import RTCMedia
import RTCPrimitives
import Synchronization

/// The source that a playout's thread asks for sound; it may be replaced at any time.
final class PlayoutSlot: Sendable {
  private let source: Mutex<any PlayoutSource>

  init(_ source: any PlayoutSource) { self.source = Mutex(source) }

  func put(_ source: any PlayoutSource) { self.source.withLock { $0 = source } }

  func render(_ sampleCount: Int, _ delay: TimeDelta) -> [Float] {
    source.withLock { $0 }.render(sampleCount: sampleCount, delay: delay)
  }
}
