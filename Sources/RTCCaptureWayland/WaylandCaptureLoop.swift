import RTCCapture
import RTCMedia
import RTCNet
import RTCPrimitives

/// One run of the Wayland capturer, on its thread from connecting to the end.
///
/// A copy of each monitor is under way nearly always: at rest the compositor answers it with the next change. When a change
/// came before the frame interval is over, the next copy is asked for shortly before the frame is due, so that the frame is new
/// and a monitor that changes without pause is not copied at its full rate.
final class WaylandCaptureLoop {
  /// The time of a copy: a monitor of 60 Hz shows its next picture by then.
  private static let copyTime = TimeDelta.milliseconds(17)
  /// The interval at which the compositor is asked whether it still answers.
  private static let aliveInterval = TimeDelta.seconds(2)
  /// A monitor whose copies fail this many times in a row is reported.
  private static let reportedFailures = 5

  private let options: WaylandCaptureOptions
  private let connection: WaylandConnection
  private let consumer: any VideoConsumer
  private let placement: PlacementReport
  private let run: WorkerRun
  private let rate: Double
  private let interval: TimeDelta
  private let notice: (String) -> Void

  private var clock: FrameClock
  private var plan: ScreenPlan { didSet { placement.set(plan.placement) } }
  /// In the order of the monitors.
  private var copies: [OutputCopy]
  private var seenChanges: Int
  /// Nil while the picture is a monitor's own.
  private var composition: Composition?
  private var hasStarted = false
  /// Whether the next frame's whole content is new to the consumer.
  private var isWholeNew = true
  /// The changes since the last frame that the consumer got.
  private var undelivered = DamageList()
  /// The time of the newest change.
  private var changedAt = Timestamp.zero
  private var announcement = FrameAnnouncement()
  private var askAliveAt: Timestamp
  private var reportedStall: String?

  static func run(
    _ options: WaylandCaptureOptions, rate: Double, _ consumer: any VideoConsumer, _ placement: PlacementReport,
    _ run: WorkerRun, _ notice: @escaping (String) -> Void
  ) {
    defer { placement.set(nil) }
    let loop: WaylandCaptureLoop
    do throws(CaptureError) {
      let connection = try connect(options, consumer, run)
      if run.isStopped { return }
      loop = try WaylandCaptureLoop(options, connection, rate: rate, consumer, placement, run, notice)
    } catch {
      if run.isStopped { return }
      run.noteEnded()
      return consumer.captureDidStart(.failure(error))
    }
    let end = loop.capture()
    loop.close()
    guard let end, !run.isStopped else { return }
    run.noteEnded()
    if loop.hasStarted {
      consumer.captureDidEnd(.lost(end))
    } else {
      consumer.captureDidStart(.failure(.unavailable(end)))
    }
  }

  /// Waits for a compositor that hangs until it answers or the run is to stop.
  private static func connect(
    _ options: WaylandCaptureOptions, _ consumer: any VideoConsumer, _ run: WorkerRun
  ) throws(CaptureError) -> WaylandConnection {
    let connection = try WaylandConnection(options.socket)
    do throws(SystemError) { try run.watch(connection.descriptor) } catch { throw CaptureError(error) }
    var reportAt: Timestamp? = MonotonicClock.now() + WaylandConnection.answerLimit
    try connection.greet {
      run.wait(until: reportAt)
      if let time = reportAt, time <= MonotonicClock.now() {
        reportAt = nil
        consumer.captureDidStall(connection.silenceSentence)
      }
      return !run.isStopped
    }
    if reportAt == nil { consumer.captureDidResume() }
    return connection
  }

  private init(
    _ options: WaylandCaptureOptions, _ connection: WaylandConnection, rate: Double, _ consumer: any VideoConsumer,
    _ placement: PlacementReport, _ run: WorkerRun, _ notice: @escaping (String) -> Void
  ) throws(CaptureError) {
    guard rate > 0, rate <= 1000 else {
      throw .unsupportedFormat("A screen can be captured up to 1000 times a second, not \(rate) times.")
    }
    (self.options, self.connection, self.consumer, self.run) = (options, connection, consumer, run)
    (self.placement, self.notice) = (placement, notice)
    self.rate = rate
    interval = .seconds(1 / rate)
    var settings = FrameClock.Settings(framesPerSecond: rate)
    // The compositor hands over whole pictures.
    (settings.settleQuiet, settings.settleLimit) = (.zero, .zero)
    clock = FrameClock(settings)
    plan = try connection.plan(options.target)
    copies = connection.shownOutputs.compactMap { connection.copies(of: $0, showsCursor: options.cursor) }
    seenChanges = connection.outputChanges
    placement.set(plan.placement)
    askAliveAt = MonotonicClock.now() + Self.aliveInterval
    clock.noteDemand(at: MonotonicClock.now())
    if copies.contains(where: { !$0.hasDamage }) {
      notice("\(connection.title) does not report changes: the screen is copied for every frame, changed or not.")
    }
  }

  private func close() { for copy in copies { copy.end() } }

  // MARK: The loop

  /// Captures until stopped (nil) or until the source ends, with the reason in a sentence.
  private func capture() -> String? {
    while !run.isStopped {
      connection.dispatch()
      if connection.isBroken { return connection.goneSentence }
      if connection.outputChanges != seenChanges, let end = followOutputs() { return end }
      let now = MonotonicClock.now()
      for (index, copy) in copies.enumerated() where isShown(index) {
        if let end = collect(copy, index, now) { return end }
        copy.proceed(now)
      }
      lookAlive(now)
      reportStall(now)
      if let due = clock.nextGrab, due <= now, deliver(now) { continue }
      if hasStarted { announcement.announce(clock.nextGrab, to: consumer, now: now) }
      connection.flush()
      run.wait(until: nextDeadline(now))
    }
    return nil
  }

  private func isShown(_ index: Int) -> Bool { plan.parts.contains { $0.output == index } }

  private func nextDeadline(_ now: Timestamp) -> Timestamp? {
    var deadlines: [Timestamp?] = [askAliveAt]
    for (index, copy) in copies.enumerated() where isShown(index) { deadlines.append(copy.askAt) }
    // A due frame waits for a first copy, or for a lease to end, which wakes the thread.
    if let grab = clock.nextGrab, grab > now { deadlines.append(grab) }
    return deadlines.compactMap { $0 }.min()
  }

  private func lookAlive(_ now: Timestamp) {
    guard askAliveAt <= now else { return }
    askAliveAt = now + Self.aliveInterval
    if connection.isAnswered { connection.ask() } else { report(stall: connection.silenceSentence) }
  }

  private func reportStall(_ now: Timestamp) {
    let silent = reportedStall == connection.silenceSentence
    if silent, !connection.isAnswered { return }
    let off = copies.indices.first { isShown($0) && copies[$0].failures >= Self.reportedFailures }
    report(
      stall: off.map {
        "The compositor does not copy the monitor \(copies[$0].output.name); is it off? Its last picture stays until it "
          + "shows something again."
      })
  }

  private func report(stall sentence: String?) {
    guard sentence != reportedStall else { return }
    reportedStall = sentence
    if let sentence { consumer.captureDidStall(sentence) } else { consumer.captureDidResume() }
  }

  // MARK: Monitors

  /// Finds the target again, after monitors have come, gone or changed.
  private func followOutputs() -> String? {
    seenChanges = connection.outputChanges
    let outputs = connection.shownOutputs
    let newPlan: ScreenPlan
    do throws(CaptureError) { newPlan = try connection.plan(options.target) } catch {
      guard !connection.outputs.isEmpty || !hasStarted else { return "\(connection.title) has no monitor any more." }
      return error.sentence
    }
    let now = MonotonicClock.now()
    var kept: [OutputCopy] = []
    for output in outputs {
      let known = copies.first { $0.output === output }
      if let copy = known ?? connection.copies(of: output, showsCursor: options.cursor) { kept.append(copy) }
    }
    for copy in copies where !kept.contains(where: { $0 === copy }) { copy.end() }
    let isSamePicture = newPlan.parts == plan.parts && newPlan.size == plan.size
    let isSame = isSamePicture && kept.count == copies.count && zip(kept, copies).allSatisfy { $0 === $1 }
    (copies, plan) = (kept, newPlan)
    guard !isSame || copies.contains(where: { $0.isOutdated }) else { return nil }
    for copy in copies { copy.startOver(now) }
    startOver(now)
    return nil
  }

  /// The picture is another one now.
  private func startOver(_ now: Timestamp) {
    isWholeNew = true
    undelivered.removeAll()
    composition = nil
    clock.noteDemand(at: now)
  }

  // MARK: Copies

  /// Takes over a finished copy. Returns the reason why the capture ends.
  private func collect(_ copy: OutputCopy, _ index: Int, _ now: Timestamp) -> String? {
    switch copy.refusal {
    case .format(let sentence): return sentence
    case .memory: return "The system has no memory left for pictures of the screen."
    case nil: break
    }
    guard let result = copy.takeResult() else { return nil }
    changedAt = max(changedAt, result.time)
    var isChanged = false
    for part in plan.parts where part.output == index {
      let changes = result.damage ?? [part.rect]
      for change in changes {
        let placed = part.placed(change)
        guard !placed.isEmpty else { continue }
        undelivered.insert(placed)
        composition?.noteChange(placed)
        isChanged = true
      }
    }
    if isChanged { clock.noteChange(at: now, isPeriodic: false) }
    copy.askAt = nextCopy(isChanged: isChanged, copy, now)
    return nil
  }

  /// When the next copy is asked for.
  private func nextCopy(isChanged: Bool, _ copy: OutputCopy, _ now: Timestamp) -> Timestamp {
    // Changes beside the picture, and changes that are not reported, are looked for at the rate of frames.
    guard isChanged, copy.hasDamage else { return now + interval }
    guard let due = clock.nextGrab, due > now + Self.copyTime * 2 else { return now }
    return due - Self.copyTime
  }

  // MARK: Frames

  /// Hands the newest picture over; false while that is impossible.
  private func deliver(_ now: Timestamp) -> Bool {
    let shown = copies.indices.filter(isShown)
    guard shown.allSatisfy({ copies[$0].newest != nil }) else { return false }
    guard isWholeNew || !undelivered.isEmpty else {
      clock.noteNothingToGrab()
      return true
    }
    guard let buffer = picture() else { return false }
    start(buffer)
    clock.noteGrab(at: now)
    let changes = isWholeNew ? nil : undelivered.rects
    isWholeNew = false
    undelivered.removeAll()
    announcement.noteDelivery()
    for index in shown where copies[index].hasDamage { copies[index].askAt = copies[index].askAt.map { min($0, now) } }
    consumer.consume(VideoFrame(buffer: buffer, captureTime: changedAt, damage: changes, colorSpace: .sRGB))
    return true
  }

  private func start(_ buffer: PixelBuffer) {
    guard !hasStarted else { return }
    hasStarted = true
    consumer.captureDidStart(.success(VideoFormat(size: buffer.size, frameRates: 0...rate, pixelFormat: buffer.format)))
  }

  /// The picture as it is now, leased; nil while the consumer holds all memory.
  private func picture() -> PixelBuffer? {
    let wake: @Sendable () -> Void = { [run] in run.wake() }
    if let part = plan.only, let (picture, orientation) = copies[part.output].newest, orientation == .upright {
      composition = nil
      if let buffer = picture.lease(part.rect, onRelease: wake) { return buffer }
    }
    if composition == nil {
      composition = Composition(size: plan.size)
      isWholeNew = true
    }
    return composition?.draw(plan, from: copies, onRelease: wake)
  }
}
