import CLinux
import Glibc
package import RTCPrimitives
import Synchronization

/// One thread that owns one UDP port or several, and everything its handler holds: it sleeps until a datagram, posted work, a
/// deadline or a source of the handler's is there, and uses no processor time while nothing is.
///
/// An actor may live on it by returning it as its `unownedExecutor`. A started loop lives until `stop()`.
package final class EventLoop: SerialExecutor, @unchecked Sendable {
  // Why unchecked: `ports`, `slots`, `sources`, `idleTime` and `poller` are touched by `init` and afterwards by the loop's thread
  // alone; everything else is safe to share.
  private var ports: UDPPorts
  /// The receive buffers of all ports.
  private var slots = ReceiveSlots()
  private var sources = LoopSources()
  private let poller: Poller
  private let name: String
  private let wake: WakeEvent
  private let mailbox = Mailbox()
  private let thread = Mutex<NamedThread?>(nil)
  /// The pthread that is the loop now, 0 for none.
  private let owner = Atomic<UInt>(0)
  private let lateTasks = Mutex(LateTasks())

  /// The time that the loop has waited for something to do. Only on the loop.
  package private(set) var idleTime = TimeDelta.zero

  /// The number of the first UDP port.
  package let port: UInt16
  /// The first UDP port has an IPv4 socket.
  package let hasIPv4: Bool
  /// The first UDP port has an IPv6 socket.
  package let hasIPv6: Bool

  /// Batches taken from a socket before other work gets its turn.
  private static let batchesPerTurn = 4

  /// - Parameter name: the thread's name, as `top -H` shows it; at most 15 bytes.
  package init(port udp: sending UDPPort, name: String = "rtcast-loop") throws(SystemError) {
    port = udp.number
    hasIPv4 = udp.hasIPv4
    hasIPv6 = udp.hasIPv6
    wake = try WakeEvent()
    poller = try Poller()
    ports = UDPPorts(udp)
    self.name = name
    try poller.add(wake.descriptor, token: sources.add(.wake))
    try watch(udp, number: 0)
  }

  private func watch(_ port: UDPPort, number: UInt16) throws(SystemError) {
    if let v4 = port.v4 { try poller.add(v4.number, token: sources.add(.socket(.v4, port: number))) }
    if let v6 = port.v6 { try poller.add(v6.number, token: sources.add(.socket(.v6, port: number))) }
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

  /// Takes in another UDP port. Only on the loop.
  /// - Returns: the kind of the routes by which its datagrams come and go.
  /// - Throws: `SystemError` when it cannot be watched, or the loop has 65,536.
  package func add(_ port: sending UDPPort) throws(SystemError) -> Route.Kind {
    assertOnLoop()
    let port = port
    let number = try ports.add(port)
    do throws(SystemError) { try watch(port, number: number) } catch {
      removePort(number)
      throw error
    }
    return .udp(port: number)
  }

  /// Closes a UDP port that was added; datagrams with its routes are left out from now on. Only on the loop.
  package func remove(_ kind: Route.Kind) {
    assertOnLoop()
    if case .udp(let number) = kind { removePort(number) }
  }

  private func removePort(_ number: UInt16) {
    guard let port = ports.remove(number) else { return }
    for file in port.descriptors { poller.remove(file) }
    sources.removeAll { if case .socket(_, number) = $0 { true } else { false } }
  }

  /// The local number of an added UDP port, and which IP versions it has; nil when it is gone. Only on the loop.
  package func port(of kind: Route.Kind) -> UDPPort? {
    assertOnLoop()
    guard case .udp(let number) = kind else { return nil }
    return ports[number]
  }

  /// Calls `source` from now on when its descriptor is ready. Only on the loop.
  /// - Returns: what to name it by.
  package func watch(
    _ source: any LoopSource, for interest: Poller.Readiness = .readable
  ) throws(SystemError) -> LoopSourceToken {
    assertOnLoop()
    let token = sources.add(.other(source))
    do throws(SystemError) { try poller.add(source.descriptor, token: token, for: interest) } catch {
      sources.remove(token)
      throw error
    }
    return LoopSourceToken(number: token)
  }

  /// Watches a source for something else. Only on the loop.
  package func change(_ token: LoopSourceToken, for interest: Poller.Readiness) {
    assertOnLoop()
    guard case .other(let source)? = sources[token.number] else { return }
    // It is watched already, so this needs no memory.
    try? poller.change(source.descriptor, token: token.number, for: interest)
  }

  /// Stops watching a source, whose descriptor is still open. Only on the loop.
  package func unwatch(_ token: LoopSourceToken) {
    assertOnLoop()
    guard case .other(let source)? = sources[token.number] else { return }
    poller.remove(source.descriptor)
    sources.remove(token.number)
  }

  /// Sends those datagrams of `batch` that a UDP port carries; see `UDPPort.send`. Only on the loop.
  package func send(_ batch: borrowing DatagramBatch) {
    assertOnLoop()
    ports.send(batch)
  }

  /// Appends the routes that the kernel has refused since the last call. Only on the loop.
  package func takeRefusals(into taken: inout [SendRefusal]) {
    assertOnLoop()
    ports.takeRefusals(into: &taken)
  }

  /// The counters of all ports, including closed ones. Only on the loop.
  package var counters: NetCounters {
    assertOnLoop()
    return ports.counters
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
    // Sources hold the loop, as a rule.
    sources = LoopSources()
    handler.loopEnded()
    owner.store(0, ordering: .relaxed)
  }

  private func turn(_ handler: some LoopHandler, waitingUntil deadline: Timestamp, _ jobs: inout [Mailbox.Job]) {
    let waitsSince = MonotonicClock.now()
    let ready = poller.wait(until: deadline)
    let woken = MonotonicClock.now()
    idleTime = idleTime + (woken - waitsSince)
    if !ready.isEmpty { serve(ready, handler, woken) }
    runJobs(&jobs)
    let now = MonotonicClock.now()
    if handler.nextDeadline <= now { handler.deadlineReached(now: now) }
    handler.endOfBatch(now: now)
  }

  private func serve(_ ready: Poller.Ready, _ handler: some LoopHandler, _ now: Timestamp) {
    for index in 0..<ready.count {
      let (token, readiness) = ready[index]
      // Nil: one that was served before it has removed this one.
      switch sources[token] {
      case .wake: wake.clear()
      case .socket(let sockets, let number):
        ports[number]?.receive(sockets, batches: Self.batchesPerTurn, &slots) { bytes, route in
          var route = route
          route.kind = .udp(port: number)
          handler.datagram(&bytes, route: route, now: now)
        }
      case .other(let source): source.ready(readiness, now: now)
      case nil: break
      }
    }
    sources.reuseTokens()
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

  /// A task must not be lost, or its caller waits for ever: tasks after the end run on a thread made for them.
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
    // Two threads are never the loop at a time.
    thread.withLock { $0 }?.join()
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

/// The user of an `EventLoop`. All calls come on the loop's thread, one at a time.
///
/// After each wake-up the loop delivers the waiting datagrams, runs posted work, reports a reached deadline, and then
/// calls `endOfBatch` once.
package protocol LoopHandler: AnyObject, SendableMetatype {
  /// A datagram has arrived. `bytes` may be changed in place and is gone after the call.
  func datagram(_ bytes: inout MutableSpan<UInt8>, route: Route, now: Timestamp)
  /// `nextDeadline` has come. The handler must move it on, else the loop spins.
  func deadlineReached(now: Timestamp)
  /// All events of this turn were delivered: send the collected datagrams by `EventLoop.send`.
  func endOfBatch(now: Timestamp)
  /// When to call `deadlineReached`; read after every `endOfBatch`. `distantFuture` means never.
  var nextDeadline: Timestamp { get }
  /// The loop has ended, and no further call follows: release everything that refers to the handler.
  func loopEnded()
}

extension LoopHandler {
  package func loopEnded() {}
}

/// Something with a file descriptor that an `EventLoop` waits for: a stream, a listener, news of the network. All calls come
/// on the loop's thread.
package protocol LoopSource: AnyObject, SendableMetatype {
  /// Open, and the same, from `EventLoop.watch` to `EventLoop.unwatch`.
  var descriptor: Int32 { get }
  /// The descriptor is ready for one of its watched operations.
  func ready(_ readiness: Poller.Readiness, now: Timestamp)
}
