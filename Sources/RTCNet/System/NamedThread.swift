import CLinux
import Glibc
import Synchronization

/// A thread of the operating system that runs one closure to its end. SIGPIPE is blocked on it: writing to a closed
/// descriptor fails, in any library, and never ends the process.
package final class NamedThread: Sendable {
  private enum State {
    case running(pthread_t)
    case joined
  }
  private let state: Mutex<State>

  /// Starts the thread.
  /// - Parameter name: shown by `top -H`; the kernel keeps its first 15 bytes.
  package init(name: String, body: @escaping @Sendable () -> Void) throws(SystemError) {
    let start = unsafe Unmanaged.passRetained(ThreadStart(name: name, body: body))
    var id = pthread_t()
    let error = unsafe pthread_create(&id, nil, threadMain, start.toOpaque())
    guard error == 0 else {
      unsafe start.release()
      throw SystemError(errno: error, call: "pthread_create", subject: "Starting the thread \(name)")
    }
    state = Mutex(.running(id))
  }

  deinit {
    state.withLock { if case .running(let id) = $0 { pthread_detach(id) } }
  }

  /// Waits until the closure has returned. Any thread but itself, any number of times.
  package func join() {
    state.withLock {
      guard case .running(let id) = $0 else { return }
      pthread_join(id, nil)
      $0 = .joined
    }
  }
}

private final class ThreadStart {
  let name: String
  let body: @Sendable () -> Void
  init(name: String, body: @escaping @Sendable () -> Void) {
    self.name = name
    self.body = body
  }
}

private func threadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let context = unsafe context else { return nil }
  let start = unsafe Unmanaged<ThreadStart>.fromOpaque(context).takeRetainedValue()
  unsafe start.name.withCString { unsafe clinux_thread_set_name($0) }
  _ = clinux_sigpipe_block()
  start.body()
  return nil
}
