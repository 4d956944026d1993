package import RTCMedia
package import RTCPrimitives
import Synchronization

/// A consumer that a test awaits. Waiting ends with nil after `limit`, so that a test fails and does not hang.
package final class FrameCollector: VideoConsumer {
  /// A call that the capturer made.
  package enum Event: Sendable {
    case started(Result<VideoFormat, CaptureError>)
    case frame(VideoFrame)
    case stalled(String)
    case resumed
    case ended(CaptureEnd)
  }

  private let events: AsyncStream<Event>
  private let feed: AsyncStream<Event>.Continuation
  private let onFrame: Mutex<(@Sendable (VideoFrame) -> Void)?>
  private let announcements = Mutex<[Timestamp]>([])

  /// Calls `onFrame` on the capturer's thread, for each frame before it is kept.
  package init(onFrame: (@Sendable (VideoFrame) -> Void)? = nil) {
    (events, feed) = AsyncStream.makeStream()
    self.onFrame = Mutex(onFrame)
  }

  /// Keeps the result of the start for `next`.
  package func captureDidStart(_ result: Result<VideoFormat, CaptureError>) { feed.yield(.started(result)) }
  /// Keeps the sentence for `next`.
  package func captureDidStall(_ sentence: String) { feed.yield(.stalled(sentence)) }
  /// Keeps the fact for `next`.
  package func captureDidResume() { feed.yield(.resumed) }
  /// Keeps the end for `next`.
  package func captureDidEnd(_ reason: CaptureEnd) { feed.yield(.ended(reason)) }
  /// Keeps the time for `announcedFrames`.
  package func captureWillDeliver(at time: Timestamp) { announcements.withLock { $0.append(time) } }
  /// The times of the frames that the capturer has announced.
  package var announcedFrames: [Timestamp] { announcements.withLock { $0 } }
  /// Calls `onFrame`, then keeps the frame, and its lease, for `next`.
  package func consume(_ frame: VideoFrame) {
    onFrame.withLock { $0 }?(frame)
    feed.yield(.frame(frame))
  }

  /// The next event, in the order of the calls; nil when none comes within `limit`.
  package func next(within limit: Duration = .seconds(10)) async -> Event? {
    await events.next(within: limit)
  }

  /// The next frame; nil when the capturer ended or nothing came.
  package func frame() async -> VideoFrame? {
    while let event = await next() {
      switch event {
      case .frame(let frame): return frame
      case .ended: return nil
      case .started(.failure): return nil
      case .started, .stalled, .resumed: continue
      }
    }
    return nil
  }

  /// The result of the start, when that is the next event; nil when it is another, or nothing came.
  package func started() async -> Result<VideoFormat, CaptureError>? {
    if case .started(let result) = await next() { result } else { nil }
  }

  /// Why capturing ended, events before that left out; nil when nothing came.
  package func ended() async -> CaptureEnd? {
    while let event = await next() {
      if case .ended(let reason) = event { return reason }
    }
    return nil
  }
}
