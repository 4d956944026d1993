import RTCMedia
import Synchronization

/// What is wanted of the pointer at the time. Any thread; a run looks when it is woken.
final class CursorWishes: Sendable {
  /// One consumer, and whether frames are to show the pointer.
  struct Wish: Sendable {
    var consumer: (any CursorConsumer)?
    var isDrawn = true

    /// Who is told of nothing needs it in the picture.
    var drawsCursor: Bool { isDrawn || consumer == nil }
  }

  private let state = Mutex(Wish())

  var now: Wish { state.withLock { $0 } }

  func change(_ body: (inout Wish) -> Void) { state.withLock { body(&$0) } }
}
