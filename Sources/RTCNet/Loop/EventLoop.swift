import CLinux
import Glibc
package import RTCPrimitives
import Synchronization

/// One thread that owns one UDP port or several, and everything its handler holds: it sleeps until a datagram, posted work or a
/// deadline is there, and uses no processor time while nothing is.
///
/// An actor may live on it by returning it as its `unownedExecutor`. A started loop lives until `stop()`.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
  // Why unchecked: `ports`, `sources` and `poller` are touched by `init` and afterwards by the loop's thread alone;
  // everything else is safe to share.
  private var ports: [UDPPort] = []
  /// What the poller's tokens stand for, by token.
  private var sources: [Source] = []
  private let poller: Poller
  private let name: String
  private let wake: WakeEvent
  private let mailbox = Mailbox()
  private let thread = Mutex<NamedThread?>(nil)
  /// The pthread that is the loop now, 0 for none.
  private let owner = Atomic<UInt>(0)
  private let lateTasks = Mutex(LateTasks())

  /// The number of the first UDP port.
  package let port: UInt16
  /// The first UDP port has an IPv4 socket.
  package let hasIPv4: Bool
  /// The first UDP port has an IPv6 socket.
  package let hasIPv6: Bool

  /// What wakes the loop.
  private enum Source {
    case wake
    case socket(UDPPort.SocketSet, port: Int)
  }
  /// The poller has no more tokens.
  private static let maximumSources = 64
  /// Batches taken from a socket before other work gets its turn.
  private static let batchesPerTurn = 4

  /// - Parameter name: the thread's name, as `top -H` shows it; at most 15 bytes.
  package init(port udp: sending UDPPort, name: String = "rtcast-loop") throws(SystemError) {
    port = udp.number
    hasIPv4 = udp.hasIPv4
    hasIPv6 = udp.hasIPv6
    wake = try WakeEvent()
    poller = try Poller()
    self.name = name
    try watch(wake.descriptor, .wake)
    try watch(udp)
  }

  private func watch(_ file: Int32, _ source: Source) throws(SystemError) {
    try poller.add(file, token: sources.count)
    sources.append(source)
  }

  private func watch(_ port: UDPPort) throws(SystemError) {
    if let v4 = port.v4 { try watch(v4.number, .socket(.v4, port: ports.count)) }
    if let v6 = port.v6 { try watch(v6.number, .socket(.v6, port: ports.count)) }
    ports.append(port)
  }

  // MARK: - Life

  /// Starts the thread, which makes its handler first. Once in the loop's life.
  package func start(_ makeHandler: @escaping @Sendable (EventLoop) -> some LoopHandler) throws(SystemError) {
    try thread.withLock { thread throws(SystemError) in
      precondition(thread == nil, "EventLoop.start: already started")
      thread = try NamedThread(name: name) { self.run(makeHandler) }
    }
  }

  /// Ends the loop after everything posted so far has run and been flushed, and waits for that; on the loop itself it
  /// only asks. Any thread, any number of times.
  package func stop() {
    mailbox.stop()
    wake.signal()
    guard !isOnLoop else { return }
    thread.withLock { $0 }?.join()
  }

  // MARK: - Work from outside

  /// Runs `job` on the loop, after all work posted earlier. Any thread.
  /// - Returns: false when the loop has ended and `job` will not run.
  @discardableResult
  package func post(_ job: @escaping @Sendable () -> Void) -> Bool {
    if case .closed = deliver(.closure(job)) { return false }
    return true
  }

  /// True on the loop's thread.
  package var isOnLoop: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Traps when not on the loop's thread.
  package func assertOnLoop() { precondition(isOnLoop, "This must be called on the loop's thread: use post") }

  private func deliver(_ job: Mailbox.Job) -> Mailbox.Receipt {
    let receipt = mailbox.append(job)
    // The loop looks into the mailbox before it sleeps, so it need not wake itself.
    if case .accepted(isFirst: true) = receipt, !isOnLoop { wake.signal() }
    return receipt
  }

  // MARK: - On the loop

  /// Takes in another UDP port, which lives as long as the loop. Only on the loop.
  /// - Returns: the kind of the routes by which its datagrams come and go.
  /// - Throws: `SystemError` when it cannot be watched, or the loop has too many.
  package func add(_ port: sending UDPPort) throws(SystemError) -> Route.Kind {
    assertOnLoop()
    guard sources.count + 2 <= Self.maximumSources else {
      throw SystemError(errno: EMFILE, call: "epoll_ctl", subject: "Another UDP port")
    }
    try watch(port)
    return .udp(port: UInt16(ports.count - 1))
  }

  /// Sends all datagrams of `batch`, each by the port of its route; see `UDPPort.send`. Only on the loop.
  package func send(_ batch: borrowing DatagramBatch) {
    assertOnLoop()
    for index in ports.indices { ports[index].send(batch, kind: .udp(port: UInt16(index))) }
  }

  /// What all ports have done so far. Only on the loop.
  package var counters: NetCounters {
    assertOnLoop()
    var sum = NetCounters()
    for port in ports { sum.add(port.counters) }
    return sum
  }

  private func run(_ makeHandler: (EventLoop) -> some LoopHandler) {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    clinux_thread_set_timer_slack(1_000)
    let handler = makeHandler(self)
    var jobs: [Mailbox.Job] = []
    loop: while true {
      switch mailbox.next() {
      case .sleep: turn(handler, waitingUntil: handler.nextDeadline, &jobs)
      case .poll: turn(handler, waitingUntil: .zero, &jobs)
      case .end: break loop
      }
    }
    // Only if nobody has followed: late tasks may be running by now.
    _ = owner.compareExchange(expected: UInt(pthread_self()), desired: 0, ordering: .relaxed)
  }

  private func turn(_ handler: some LoopHandler, waitingUntil deadline: Timestamp, _ jobs: inout [Mailbox.Job]) {
    let ready = poller.wait(until: deadline)
    if !ready.isEmpty { serve(ready, handler) }
    runJobs(&jobs)
    let now = MonotonicClock.now()
    if handler.nextDeadline <= now { handler.deadlineReached(now: now) }
    handler.endOfBatch(now: now)
  }

  private func serve(_ ready: Poller.Ready, _ handler: some LoopHandler) {
    let now = MonotonicClock.now()
    for token in sources.indices where ready.contains(token) {
      switch sources[token] {
      case .wake: wake.clear()
      case .socket(let sockets, let index):
        ports[index].receive(sockets, batches: Self.batchesPerTurn) { bytes, route in
          var route = route
          route.kind = .udp(port: UInt16(index))
          handler.datagram(&bytes, route: route, now: now)
        }
      }
    }
  }

  private func runJobs(_ jobs: inout [Mailbox.Job]) {
    mailbox.take(into: &jobs)
    for job in jobs {
      switch job {
      case .closure(let body): body()
      case .task(let task): unsafe task.runSynchronously(on: asUnownedSerialExecutor())
      }
    }
    jobs.removeAll(keepingCapacity: true)
  }
}

// MARK: - Actors on the loop

extension EventLoop {
  /// Runs a task's job on the loop, after the end on a thread made for it; any thread, for the Swift runtime.
  package func enqueue(_ job: consuming ExecutorJob) {
    let task = UnownedJob(job)
    if case .closed = deliver(.task(task)) { runLate(task) }
  }

  /// Two loops are one context only when they are the same object.
  package func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }
  /// Ends the program when it is called from another thread than the loop's; for the Swift runtime.
  package func checkIsolated() { assertOnLoop() }
  /// True on the loop's thread; never nil.
  package func isIsolatingCurrentContext() -> Bool? { isOnLoop }

  private struct LateTasks {
    var waiting: [UnownedJob] = []
    var hasThread = false
  }

  /// A task must not be lost, or its caller waits for ever: what comes after the end runs on a thread made for it.
  private func runLate(_ task: UnownedJob) {
    let needsThread = lateTasks.withLock { late in
      late.waiting.append(task)
      defer { late.hasThread = true }
      return !late.hasThread
    }
    guard needsThread else { return }
    do {
      _ = try NamedThread(name: name) { self.drainLateTasks() }
    } catch {
      fatalError("EventLoop: \(error)")
    }
  }

  private func drainLateTasks() {
    owner.store(UInt(pthread_self()), ordering: .relaxed)
    while true {
      let tasks = lateTasks.withLock { late in
        let tasks = late.waiting
        late.waiting = []
        if tasks.isEmpty {
          owner.store(0, ordering: .relaxed)
          late.hasThread = false
        }
        return tasks
      }
      guard !tasks.isEmpty else { return }
      for task in tasks { unsafe task.runSynchronously(on: asUnownedSerialExecutor()) }
    }
  }
}
