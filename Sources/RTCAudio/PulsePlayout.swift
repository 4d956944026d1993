import RTCMedia
import RTCNet
package import RTCPrimitives

/// One run of a device's playout, on its thread: connects, follows the output, and starts again when the server stops.
/// While there is no output, the sound is consumed without it, so that other listeners of the tracks continue.
final class PulsePlayout {
  /// How long the server may take to answer.
  private static let connectLimit = TimeDelta.seconds(5)

  /// The state last reported to the application.
  private enum Standing {
    case starting
    case playing(PulseOutput)
    /// For an output or for the server.
    case waiting
  }

  /// An output by name or description; nil for the default.
  private let target: String?
  private let server: String?
  private let source: PlayoutSlot
  private let thread: WorkerRun
  private let notice: (String) -> Void
  private let echo: EchoWatch

  private var standing = Standing.starting
  private var retries = PulseRetries()
  private var playback: PulsePlayback?
  private var unheard = SilentPlayoutClock()
  private var defaultSink: String?

  init(
    _ target: String?, server: String?, _ source: PlayoutSlot, _ thread: WorkerRun,
    _ notice: @escaping (String) -> Void, _ echo: EchoWatch
  ) {
    self.target = target
    self.server = server
    self.source = source
    self.thread = thread
    self.notice = notice
    self.echo = echo
  }

  func run() {
    defer { echo.note(output: nil) }
    while !thread.isStopped {
      let error = session()
      playback = nil
      guard !thread.isStopped, let error else { return }
      switch standing {
      case .starting: wait("Received sound is not played: \(error.sentence)")
      case .playing: wait("The sound server has stopped; received sound is played again when it is back.")
      case .waiting: break
      }
      let end = MonotonicClock.now() + retries.nextPause()
      while !thread.isStopped, MonotonicClock.now() < end { thread.wait(until: min(end, passUnheard())) }
    }
  }

  /// From connecting until the server is lost; nil when stopped.
  private func session() -> CaptureError? {
    do throws(PulseError) {
      let connection = try PulseConnection(server: server, wakeDescriptor: thread.descriptor)
      try connection.connect(
        until: MonotonicClock.now() + Self.connectLimit, while: { !thread.isStopped }, nextLook: passUnheard)
      connection.watchDevices()
      connection.hasDeviceChanges = true
      while !thread.isStopped {
        if case .failed(let error) = connection.state { throw error }
        try step(connection)
        if thread.isStopped { break }
        connection.pump(until: nextLook())
      }
      return nil
    } catch {
      return error.captureError
    }
  }

  private func nextLook() -> Timestamp {
    let due: Timestamp
    if let end = playback?.heardUntil, end > MonotonicClock.now() {
      unheard.stop()
      due = end
    } else {
      due = passUnheard()
    }
    return retries.due.map { min($0, due) } ?? due
  }

  /// Handles the results of the last pump.
  private func step(_ connection: PulseConnection) throws(PulseError) {
    if let playback, case .ended(let error) = playback.state {
      self.playback = nil
      retries.schedule()
      wait(
        "Received sound is not played for now: the sound server refuses a stream (\(error.words)). rtcast tries again.")
    }
    if retries.takeDue() { connection.hasDeviceChanges = true }
    if let inventory = connection.takeChangedInventory() { try follow(inventory, connection) }
  }

  /// Sees that the stream is at the output it should be at.
  private func follow(_ inventory: PulseInventory, _ connection: PulseConnection) throws(PulseError) {
    let before = defaultSink
    defaultSink = inventory.defaultSink
    let wanted: String?
    do throws(CaptureError) {
      wanted = try inventory.output(target)
    } catch {
      playback = nil
      return wait("Received sound is not played for now: \(error.sentence)")
    }
    if let playback, playback.wanted == wanted {
      guard let device = playback.device else { return }
      // Most servers move a stream to another default themselves.
      let isLeftBehind = wanted == nil && device == before && before != inventory.defaultSink
      if !isLeftBehind { return noteHeard(inventory.output(named: device)) }
    }
    guard retries.due == nil else { return }
    // The old one first: an output may allow only one.
    playback = nil
    // The playback is this object's own and gone before it is.
    playback = try PulsePlayback(connection, sink: wanted) { [unowned self] in fill($0, $1) }
  }

  private func fill(_ sampleCount: Int, _ delay: TimeDelta) -> [Float] {
    echo.look(at: MonotonicClock.now())
    return thread.isStopped ? [] : source.render(sampleCount, delay)
  }

  /// Consumes sound without an output.
  /// - Returns: the time of the next call.
  private func passUnheard() -> Timestamp {
    let (samples, next) = unheard.pass(until: MonotonicClock.now())
    if samples > 0 { _ = fill(samples, .zero) }
    return next
  }

  private func noteHeard(_ output: PulseOutput) {
    retries.noteSuccess()
    echo.note(output: output)
    switch standing {
    case .starting: break
    case .playing(let before):
      if before.description != output.description { notice("Received sound is now played on \(output.description).") }
    case .waiting: notice("Received sound is played again, on \(output.description).")
    }
    standing = .playing(output)
  }

  private func wait(_ sentence: String) {
    if case .waiting = standing { return }
    standing = .waiting
    echo.note(output: nil)
    notice(sentence)
  }
}

/// Counts the sound that passes while no device asks for it, in steps of 10 ms.
package struct SilentPlayoutClock {
  private static let step = TimeDelta.milliseconds(10)
  private static let samplesPerStep = 480
  /// More at once is left out: the thread stood still.
  private static let longest: Int64 = 50

  /// Up to where sound has passed.
  private var passed: Timestamp?

  package init() {}

  /// - Returns: the samples that are due, and when the next are.
  package mutating func pass(until now: Timestamp) -> (samples: Int, next: Timestamp) {
    guard let passed else {
      self.passed = now
      return (0, now + Self.step)
    }
    let steps = max(0, (now - passed).nanoseconds / Self.step.nanoseconds)
    let end = passed + Self.step * steps
    self.passed = end
    return (Int(min(steps, Self.longest)) * Self.samplesPerStep, end + Self.step)
  }

  /// A device asks again.
  package mutating func stop() { passed = nil }
}
