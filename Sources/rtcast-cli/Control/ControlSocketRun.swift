import Glibc
import RTCNet
import RTCPrimitives

/// The work of a control socket, on its thread.
struct ControlSocketRun: Sendable {
  private struct Connection {
    let id: UInt64
    let descriptor: Int32
    var client = ControlClient()
    let order = AnswerOrder()
  }

  /// Lines of all clients that may be carried out at a time.
  private static let mostUnanswered = 256
  /// How long no client is accepted after the system had no descriptor for one.
  private static let acceptPause = TimeDelta.seconds(1)

  private let socket: ControlSocket
  private let listener: Int32
  private let wake: WakeEvent
  private let deliver: @Sendable (ControlRequest) -> Void
  private var connections: [Connection] = []
  private var lastID: UInt64 = 0
  private var unanswered = 0
  private var acceptsAgain: Timestamp?
  private var room = [UInt8](repeating: 0, count: 4_096)

  init(
    _ socket: ControlSocket, listener: Int32, wake: WakeEvent, deliver: @escaping @Sendable (ControlRequest) -> Void
  ) {
    self.socket = socket
    self.listener = listener
    self.wake = wake
    self.deliver = deliver
    // Accepting must not wait for a client that left meanwhile.
    _ = fcntl(listener, F_SETFL, O_NONBLOCK)
  }

  /// Returns when the socket is closed.
  mutating func serve() {
    while true {
      let mail = socket.takeMail()
      for answer in mail.answers { pass(answer.text, to: answer.client) }
      for index in connections.indices.reversed() where !settle(index) { disconnect(index) }
      if mail.isClosing { break }
      wait()
    }
    for connection in connections { close(connection.descriptor) }
  }

  // MARK: - Waiting

  private mutating func wait() {
    let now = MonotonicClock.now()
    if let acceptsAgain, acceptsAgain <= now { self.acceptsAgain = nil }
    func entry(_ descriptor: Int32, _ events: Int32) -> pollfd {
      // A negative descriptor is passed over: a client that has hung up and must wait would keep the thread awake.
      pollfd(fd: events == 0 ? -1 : descriptor, events: Int16(events), revents: 0)
    }
    var entries = [entry(wake.descriptor, POLLIN), entry(listener, acceptsAgain == nil ? POLLIN : 0)]
    for connection in connections {
      let client = connection.client
      entries.append(
        entry(connection.descriptor, (client.wantsInput ? POLLIN : 0) | (client.backlog.isEmpty ? 0 : POLLOUT)))
    }
    let deadline = (connections.map(\.client.deadline) + [acceptsAgain]).compactMap(\.self).min()
    let milliseconds = deadline.map { Int32(clamping: max(0, ($0 - now).milliseconds) + 1) } ?? -1
    guard poll(&entries, nfds_t(entries.count), milliseconds) > 0 else { return }
    if entries[0].revents != 0 { wake.clear() }
    for index in connections.indices.reversed() where entries[index + 2].revents & ~Int16(POLLOUT) != 0 {
      if connections[index].client.wantsInput, !read(index) { disconnect(index) }
    }
    if entries[1].revents != 0 { accept() }
  }

  // MARK: - Clients

  private mutating func accept() {
    while true {
      let descriptor = Glibc.accept(listener, nil, nil)
      guard descriptor >= 0 else {
        if errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS {
          acceptsAgain = MonotonicClock.now() + Self.acceptPause
        }
        if errno == EINTR || errno == ECONNABORTED { continue }
        return
      }
      _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
      if let sentence = refusal(of: descriptor) {
        let line = ControlReply(.failure(ControlError(sentence))).event.object.text + "\n"
        _ = send(Array(line.utf8), to: descriptor)
        close(descriptor)
      } else {
        lastID += 1
        connections.append(Connection(id: lastID, descriptor: descriptor))
      }
    }
  }

  /// Why a client is not accepted; nil: it is. The mode of the path keeps others out, but not those with more rights.
  private func refusal(of descriptor: Int32) -> String? {
    let user = UnixSocket.peerUser(of: descriptor)
    guard user == geteuid() || user == 0 else { return "Commands are taken from the user of this process alone." }
    guard connections.count < ControlSocket.mostClients else {
      return "\(ControlSocket.mostClients) programs are connected to this socket; no more are accepted."
    }
    return nil
  }

  /// False when the connection is broken.
  private mutating func read(_ index: Int) -> Bool {
    let count = recv(connections[index].descriptor, &room, room.count, Int32(MSG_DONTWAIT))
    if count < 0 { return errno == EAGAIN || errno == EINTR }
    if count == 0 {
      connections[index].client.receiveEnd()
    } else {
      connections[index].client.receive(room[..<count])
    }
    return true
  }

  /// Adds an answer to what its client is to read; the client may be gone.
  private mutating func pass(_ text: String, to id: UInt64) {
    unanswered -= 1
    guard let index = connections.firstIndex(where: { $0.id == id }) else { return }
    if !connections[index].client.answer(text, now: MonotonicClock.now()) { disconnect(index) }
  }

  /// Sends and delivers what can be.
  /// - Returns: whether the connection goes on.
  private mutating func settle(_ index: Int) -> Bool {
    let (id, descriptor) = (connections[index].id, connections[index].descriptor)
    let now = MonotonicClock.now()
    if !connections[index].client.backlog.isEmpty {
      guard let count = send(connections[index].client.backlog, to: descriptor) else { return false }
      if count > 0 { connections[index].client.sent(count, now: now) }
    }
    if let deadline = connections[index].client.deadline, deadline <= now { return false }
    while unanswered < Self.mostUnanswered, let line = connections[index].client.next() {
      unanswered += 1
      let respond = connections[index].order.respond { [socket] reply in socket.post(reply, to: id) }
      deliver(ControlRequest(line, respond: respond))
    }
    return !connections[index].client.isDone
  }

  private mutating func disconnect(_ index: Int) { close(connections.remove(at: index).descriptor) }

  /// - Returns: how many bytes were sent without waiting; nil when the connection is broken.
  private func send(_ bytes: [UInt8], to descriptor: Int32) -> Int? {
    let count = bytes.withUnsafeBytes {
      Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
    }
    if count >= 0 { return count }
    return errno == EAGAIN || errno == EINTR ? 0 : nil
  }
}
