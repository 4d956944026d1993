package import RTCMedia
import Synchronization

/// Everything besides viewers that takes encoded frames. Any thread.
package final class EncodedMediaSinks: Sendable {
  private let sinks = Mutex<[any EncodedMediaSink]>([])

  package init() {}

  package func add(_ sink: any EncodedMediaSink) { sinks.withLock { $0.append(sink) } }
  func send(_ frame: EncodedFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
  func send(_ frame: EncodedAudioFrame) { for sink in sinks.withLock({ $0 }) { sink.take(frame) } }
}
