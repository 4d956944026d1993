import RTCMedia
import Synchronization

/// The wishes for the pointer at present. Any thread may change them; a run looks at them when it is woken.
final class CursorWishes: Sendable {
  /// One consumer, and whether frames are to show the pointer.
  struct Wish: Sendable {
    var consumer: (any CursorConsumer)?
    var isDrawn = true

    /// Whether frames show the pointer. They also do without a consumer of positions, as the pointer would be seen
    /// nowhere.
    var drawsCursor: Bool { isDrawn || consumer == nil }
  }

  private let state = Mutex(Wish())

  var now: Wish { state.withLock { $0 } }

  func change(_ body: (inout Wish) -> Void) { state.withLock { body(&$0) } }
}
