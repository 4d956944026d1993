import CLinux
import Glibc
public import RTCPrimitives
import Synchronization

/// One thread that owns one UDP port and everything its handler holds: it sleeps until a datagram, posted work or a
/// deadline is there, and uses no processor time while nothing is.
///
/// An actor may live on it by returning it as its `unownedExecutor`. A started loop lives until `stop()`.
public final class EventLoop: SerialExecutor, @unchecked Sendable {
  // Why unchecked: `udp` and `poller` are touched by `init` and afterwards by the loop's thread alone;
  // everything else is safe to share.
  private let udp: UDPPort
  private let poller: Poller
  private let name: String
  private let wake: WakeEvent
  private let mailbox = Mailbox()
  private let thread = Mutex<NamedThread?>(nil)
  /// The pthread that is the loop now, 0 for none.
  private let owner = Atomic<UInt>(0)
  private let lateTasks = Mutex(LateTasks())

  /// The number of the UDP port.
  public let port: UInt16
  public let hasIPv4: Bool
  public let hasIPv6: Bool

  private enum Token {
    static let wake = 0
    static let v4 = 1
    static let v6 = 2
  }
  /// Batches taken from a socket before other work gets its turn.
  private static let batchesPerTurn = 4

  /// - Parameter name: the thread's name, as `top -H` shows it; at most 15 bytes.
  public init(port udp: sending UDPPort, name: String = "rtcast-loop") throws(SystemError) {
    port = udp.number
    hasIPv4 = udp.hasIPv4
    hasIPv6 = udp.hasIPv6
    wake = try WakeEvent()
    poller = try Poller()
    try poller.add(wake.descriptor, token: Token.wake)
    if let v4 = udp.v4 { try poller.add(v4.number, token: Token.v4) }
    if let v6 = udp.v6 { try poller.add(v6.number, token: Token.v6) }
    self.udp = udp
    self.name = name
  }

  // MARK: - Life

  /// Starts the thread, which makes its handler first. Once in the loop's life.
  public func start(_ makeHandler: @escaping @Sendable (EventLoop) -> some LoopHandler) throws(SystemError) {
    try thread.withLock { thread throws(SystemError) in
      precondition(thread == nil, "EventLoop.start: already started")
      thread = try NamedThread(name: name) { self.run(makeHandler) }
    }
  }

  /// Ends the loop after everything posted so far has run and been flushed, and waits for that; on the loop itself it
  /// only asks. Any thread, any number of times.
  public func stop() {
    mailbox.stop()
    wake.signal()
    guard !isOnLoop else { return }
    thread.withLock { $0 }?.join()
  }

  // MARK: - Work from outside

  /// Runs `job` on the loop, after all work posted earlier. Any thread.
  /// - Returns: false when the loop has ended and `job` will not run.
  @discardableResult
  public func post(_ job: @escaping @Sendable () -> Void) -> Bool {
    if case .closed = deliver(.closure(job)) { return false }
    return true
  }

  /// True on the loop's thread.
  public var isOnLoop: Bool { owner.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Traps when not on the loop's thread.
  public func assertOnLoop() { precondition(isOnLoop, "This must be called on the loop's thread: use post") }

  private func deliver(_ job: Mailbox.Job) -> Mailbox.Receipt {
    let receipt = mailbox.append(job)
    // The loop looks into the mailbox before it sleeps, so it need not wake itself.
    if case .accepted(isFirst: true) = receipt, !isOnLoop { wake.signal() }
    return receipt
  }

  // MARK: - On the loop

  /// Sends all datagrams of `batch`; see `UDPPort.send`. Only on the loop.
  public func send(_ batch: borrowing DatagramBatch) {
    assertOnLoop()
    udp.send(batch)
  }

  /// What the port has done so far. Only on the loop.
  public var counters: NetCounters {
    assertOnLoop()
    return udp.counters
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
    if ready.contains(Token.wake) { wake.clear() }
    var sockets: UDPPort.SocketSet = []
    if ready.contains(Token.v4) { sockets.insert(.v4) }
    if ready.contains(Token.v6) { sockets.insert(.v6) }
    if !sockets.isEmpty {
      let now = MonotonicClock.now()
      udp.receive(sockets, batches: Self.batchesPerTurn) { handler.datagram(&$0, route: $1, now: now) }
    }
    runJobs(&jobs)
    let now = MonotonicClock.now()
    if handler.nextDeadline <= now { handler.deadlineReached(now: now) }
    handler.endOfBatch(now: now)
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
  public func enqueue(_ job: consuming ExecutorJob) {
    let task = UnownedJob(job)
    if case .closed = deliver(.task(task)) { runLate(task) }
  }

  public func isSameExclusiveExecutionContext(other: EventLoop) -> Bool { self === other }
  public func checkIsolated() { assertOnLoop() }
  public func isIsolatingCurrentContext() -> Bool? { isOnLoop }

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
