package import RTCMedia
import Synchronization

/// The present settings of the pointer. Any thread may change them; a run looks at them when it is woken.
package final class CursorSettings: Sendable {
  /// One consumer, and whether frames are to show the pointer.
  package struct Values: Sendable {
    package var consumer: (any CursorConsumer)?
    package var isDrawn = true

    /// Whether frames show the pointer. They also do without a consumer of positions, as the pointer would be seen
    /// nowhere.
    package var drawsCursor: Bool { isDrawn || consumer == nil }
  }

  private let state = Mutex(Values())

  package init() {}

  package var now: Values { state.withLock { $0 } }

  package func change(_ body: (inout Values) -> Void) { state.withLock { body(&$0) } }
}
