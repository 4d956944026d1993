import CLinux
import Glibc

/// The life of a launcher's process. It has one thread and waits in one place.
///
/// Messages from the program are not trusted: the program may have been taken over. Only the roles and files of
/// `duties` are allowed, whatever the program asks for.
struct LauncherProcess {
  private struct Child {
    let process: Int32
    /// A descriptor that can be read when the process has ended.
    let ending: Int32
    /// The channel to the program about this child; nil when the program has closed it, and the child was killed.
    var fate: MessageSocket?
  }

  /// The message on a child's channel that asks for its end.
  static let kill: [UInt8] = [1]

  private let socket: MessageSocket
  private let duties: LauncherDuties
  private var children: [Child] = []
  private var created: [String] = []

  init(_ socket: MessageSocket, _ duties: LauncherDuties) { (self.socket, self.duties) = (socket, duties) }

  consuming func run() -> Never {
    prepare()
    var room: [UInt8] = []
    while true {
      let watched =
        [socket.descriptor] + children.flatMap { child -> [Int32] in [child.ending, child.fate?.descriptor ?? -1] }
      var events = watched.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
      guard unsafe poll(&events, nfds_t(events.count), -1) > 0 else { continue }
      for (index, child) in children.enumerated() where events[2 + 2 * index].revents != 0 {
        guard let fate = child.fate else { continue }
        Glibc.kill(child.process, SIGKILL)
        if case .message = fate.receive(into: &room) { continue }
        children[index].fate = nil
      }
      children = children.enumerated().filter { index, child in
        guard events[1 + 2 * index].revents != 0 else { return true }
        Self.reap(child)
        return false
      }.map(\.element)
      if events[0].revents != 0, !answer(&room) { end() }
    }
  }

  /// Ignores the terminal's signals: they are for the program, and the launcher ends with it. Closes the program's
  /// descriptors, unless an output is one of them (/dev/stdout, /dev/fd/63).
  private func prepare() {
    for number in [SIGINT, SIGHUP, SIGTERM, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
    unsafe clinux_thread_set_name("rtc-launcher")
    _ = clinux_no_new_privileges()
    guard !duties.outputs.contains(where: { $0.path.hasPrefix("/dev/") || $0.path.hasPrefix("/proc/") }) else { return }
    clinux_close_all_but(socket.descriptor)
    let null = unsafe open("/dev/null", O_RDWR | O_CLOEXEC)
    guard null > 2 else { return }
    dup2(null, 0)
    dup2(null, 1)
    close(null)
  }

  /// Answers one request. False when the program is gone.
  private mutating func answer(_ room: inout [UInt8]) -> Bool {
    guard case .message(let bytes, let descriptor) = socket.receive(into: &room) else { return false }
    defer { if let descriptor { close(descriptor) } }
    let text = String(decoding: bytes.dropFirst(), as: UTF8.self)
    switch bytes.first.flatMap(Launcher.Request.init) {
    case .start: start(text, connection: descriptor)
    case .create: create(text)
    case .remove: remove(text)
    case .keys: openKeys()
    case .newest: tellNewest(of: text)
    case nil: reply(-EINVAL)
    }
    return true
  }

  private mutating func start(_ name: String, connection: Int32?) {
    guard let connection, let role = duties.roles.first(where: { $0.name == name }) else { return reply(-EACCES) }
    var ends: [Int32] = [-1, -1]
    let status = unsafe clinux_message_pair(&ends)
    guard status == 0 else { return reply(status) }
    defer { close(ends[1]) }
    let fate = MessageSocket(ends[0])
    let program = ChildProgram(executable: "/proc/self/exe", arguments: [role.name] + role.arguments)
    let process = program.spawn(environment: role.environment, connection: connection)
    guard process > 0 else { return reply(process) }
    let ending = clinux_process_descriptor(process)
    guard ending >= 0 else {
      Glibc.kill(process, SIGKILL)
      _ = waitpid(process, nil, 0)
      return reply(ending)
    }
    children.append(Child(process: process, ending: ending, fate: fate))
    reply(process, ends[1])
  }

  private mutating func create(_ path: String) {
    guard let output = duties.outputs.first(where: { $0.covers(path) }) else { return reply(-EACCES) }
    // The call does not wait for the reader of a pipe. The descriptor is closed when it has been passed on.
    let file = unsafe open(path, output.flags | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, output.mode)
    guard file >= 0 else { return reply(-errno) }
    defer { close(file) }
    var status = stat()
    if output.isNumbered, unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size > 0 {
      return reply(-EEXIST)
    }
    if output.flags & O_NONBLOCK == 0 { _ = fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK) }
    // Files of a series may be removed in any case.
    if !output.isSeries { created.append(path) }
    reply(0, file)
  }

  private func openKeys() {
    guard let keys = duties.keys else { return reply(-EACCES) }
    let file = keys.open()
    guard file >= 0 else { return reply(file) }
    defer { close(file) }
    reply(0, file)
  }

  private mutating func remove(_ path: String) {
    if let index = created.firstIndex(of: path) {
      created.remove(at: index)
    } else if !duties.outputs.contains(where: { $0.isSeries && $0.covers(path) }) {
      return reply(-EACCES)
    }
    reply(unsafe unlink(path) == 0 ? 0 : -errno)
  }

  private func tellNewest(of path: String) {
    guard duties.outputs.contains(where: { $0.isSeries && $0.path == path }) else { return reply(-EACCES) }
    reply(Int32(clamping: NumberedFiles(following: path)?.newest ?? 0))
  }

  private func reply(_ result: Int32, _ descriptor: Int32 = -1) {
    socket.send(Self.bytes(result), descriptor: descriptor, isPatient: true)
  }

  private func end() -> Never {
    for child in children {
      Glibc.kill(child.process, SIGKILL)
      _ = waitpid(child.process, nil, 0)
    }
    _exit(0)
  }

  private static func reap(_ child: Child) {
    var status: Int32 = 0
    while unsafe waitpid(child.process, &status, 0) < 0, errno == EINTR {}
    child.fate?.send(bytes(status), isPatient: false)
    close(child.ending)
  }

  static func bytes(_ number: Int32) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  /// The number in the reply `bytes` of a launcher; a negated errno if the reply is malformed.
  static func number(in bytes: [UInt8]) -> Int32 {
    guard bytes.count == 4 else { return -EPROTO }
    return bytes.reversed().reduce(0) { $0 << 8 | Int32($1) }
  }
}
