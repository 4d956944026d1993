import Glibc
import RTCNet
import Synchronization

/// The socket of `--control unix:PATH`: takes commands from several clients at a time, and answers each in its order.
///
/// A thread of its own reads and writes. It waits for nobody: a client that does not read is disconnected.
package final class ControlSocket: Sendable {
  /// Clients that may be connected at a time; one more is told so and disconnected.
  package static let mostClients = 16

  /// The messages of other threads for the thread of the socket.
  struct Mail {
    var answers: [(client: UInt64, text: String)] = []
    var isClosing = false
  }

  private let socket: UnixSocket
  private let file: UnixSocket.File?
  private let listener: Int32
  private let wake: WakeEvent
  private let mail = Mutex(Mail())
  private let thread = Mutex<NamedThread?>(nil)

  /// Makes the socket, for this user alone. One that a dead program left at the path is replaced.
  package init(at place: ControlPath) throws(CastFailure) {
    socket = place.socket
    place.makeFolder()
    do throws(UnixSocketError) {
      guard let found = try PublishedSocket.listen(at: socket, backlog: Int32(Self.mostClients)) else {
        throw UnixSocketError(
          .unavailable,
          "Another program takes commands at \(socket.path). Stop it, or choose another path with --control unix:PATH.")
      }
      (listener, file) = (found.listener, found.file)
    } catch {
      throw CastFailure(error)
    }
    do throws(SystemError) { wake = try WakeEvent() } catch {
      Glibc.close(listener)
      socket.removeIfSocket()
      throw CastFailure(.software, error.description)
    }
  }

  /// Begins to accept clients.
  /// - Parameter deliver: takes each request, by the thread of the socket; must not wait.
  package func start(deliver: @escaping @Sendable (ControlRequest) -> Void) throws(CastFailure) {
    let run = ControlSocketRun(self, listener: listener, wake: wake, deliver: deliver)
    do throws(SystemError) {
      let started = try NamedThread(name: "rtc-control") {
        var run = run
        run.serve()
      }
      thread.withLock { $0 = started }
    } catch {
      throw CastFailure(.software, error.description)
    }
  }

  /// Removes the path, sends what clients take at once, and disconnects them.
  package func close() {
    // Another program may have made a socket of its own there.
    if let file, socket.file == file { socket.removeIfSocket() }
    let started = thread.withLock { thread in
      defer { thread = nil }
      return thread
    }
    mail.withLock { $0.isClosing = true }
    wake.signal()
    started?.join()
    Glibc.close(listener)
  }

  // MARK: - For the thread of the socket

  /// Leaves an answer for a client, which may be gone. Any thread.
  func post(_ reply: ControlReply, to client: UInt64) {
    let text = reply.event.object.text
    mail.withLock { $0.answers.append((client, text)) }
    wake.signal()
  }

  /// Takes the messages left since the last call.
  func takeMail() -> Mail {
    mail.withLock { mail in
      defer { mail.answers = [] }
      return mail
    }
  }
}

extension CastFailure {
  init(_ error: UnixSocketError) {
    switch error.kind {
    case .badPath: self.init(.usage, error.sentence)
    case .notPermitted: self.init(.notPermitted, error.sentence)
    case .unavailable: self.init(.unavailable, error.sentence)
    }
  }
}
