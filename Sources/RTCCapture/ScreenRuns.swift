package import RTCMedia
package import RTCNet

/// The runs of a screen capturer, one after the other, each a capture loop on a thread of its own; and the settings of
/// the pointer, which hold for all of them. Any thread may call it.
package final class ScreenRuns: Sendable {
  /// The present settings of the pointer, which a loop reads when it is woken.
  package let cursor = CursorSettings()
  /// The part of the screen that the newest frames show.
  package let placement = PlacementReport()
  private let thread = WorkerThread()
  private let name: String

  /// - Parameter name: the threads' name.
  package init(name: String) { self.name = name }

  /// Starts a run; if that is impossible, the consumer gets the reason.
  /// - Parameter loop: returns soon after `run.isStopped`; called on the new thread.
  package func start(_ consumer: any VideoConsumer, loop: @escaping @Sendable (WorkerRun) -> Void) {
    do throws(CaptureError) { try thread.startCapture(name: name, loop) } catch {
      consumer.captureDidStart(.failure(error))
    }
  }

  /// Stops the run, if there is one. After it returns, the consumer is not called any more.
  package func stop() { thread.stop() }

  /// Sets the consumer of the pointer's positions; nil: none.
  package func setCursorConsumer(_ consumer: (any CursorConsumer)?) {
    cursor.change { $0.consumer = consumer }
    thread.wake()
  }

  /// Sets whether frames are to show the pointer.
  package func setDrawsCursor(_ isDrawn: Bool) {
    cursor.change { $0.isDrawn = isDrawn }
    thread.wake()
  }
}
