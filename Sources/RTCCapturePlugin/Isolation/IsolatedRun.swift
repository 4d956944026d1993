import Glibc
import RTCCapture
import RTCIsolation
import RTCMedia
import RTCNet
import RTCPrimitives

/// A plugin that runs in a child process, restarted when the process ends. One thread per run receives the child's
/// messages; it never waits for a consumer.
final class IsolatedRun: RunningPlugin {
  private enum Phase {
    /// The first child has not answered.
    case starting
    case running
    /// The plugin said that nothing more will come.
    case finished
    case stopping
    case failed(CaptureError)
    /// No child any more.
    case over
  }

  private struct State {
    var phase = Phase.starting
    /// Not yet waited for, so the number is no other process's.
    var child: ChildProcess?
    var format: PluginFormat
  }

  private let program: PluginHostProgram
  private let load: HostCommand
  private let description: PluginDescription
  private let feed: PluginFeed
  private let report: PluginReport
  private let patience: PluginPatience
  private let state: Monitor<State>
  private let thread = WorkerThread()

  /// Starts a child and waits until the plugin in it has started.
  init(
    path: String, program: PluginHostProgram, options: [(key: String, value: String)], description: PluginDescription,
    wanted: PluginFormat, start: PluginStart, report: PluginReport, patience: PluginPatience
  ) throws(CaptureError) {
    self.program = program
    self.description = description
    self.report = report
    self.patience = patience
    feed = start.feed
    load = .load(path: path, start: HostCommand.Start(options: options, wanted: wanted))
    state = Monitor(State(format: wanted))
    feed.setRoom(
      PluginFeed.Room(
        forPicture: { [weak self] in self?.command(.pictureRoom) },
        forSound: { [weak self] in self?.command(.soundRoom($0.nanoseconds)) }))
    try thread.startCapture(name: "rtc-plugin-host") { [self] _ in supervise() }
    start.whenAbandoned { [weak self] in self?.giveUp() }
    let started = state.wait(until: nil) { state -> Result<Void, CaptureError>? in
      switch state.phase {
      case .starting: nil
      case .failed(let error): .failure(error)
      case .running, .finished, .stopping, .over: .success(())
      }
    }
    if case .failure(let error) = started {
      thread.stop()
      throw error
    }
  }

  var format: PluginFormat { state.withLock { $0.format } }

  func stop() {
    let socket = state.change { state in
      switch state.phase {
      case .running, .finished: state.phase = .stopping
      case .starting, .stopping, .failed, .over: break
      }
      return state.child?.socket
    }
    socket?.send(HostCommand.stop.bytes, isPatient: false)
    let isOver = state.wait(until: MonotonicClock.now() + patience.stop) { state -> Bool? in
      if case .stopping = state.phase { nil } else { true }
    }
    if isOver == nil {
      report.tell("The plugin \(description.name) did not stop within \(patience.stop.words); its process was ended.")
      killChild()
    }
    thread.stop()
  }

  /// The caller does not wait for the plugin's start any longer.
  private func giveUp() {
    state.change { state in
      if case .starting = state.phase { state.phase = .failed(.unavailable("The plugin's process was ended.")) }
    }
    killChild()
  }

  private func killChild() {
    state.withLock { $0.child?.kill() }
  }

  private func command(_ command: HostCommand) {
    state.withLock { $0.child?.socket }?.send(command.bytes, isPatient: false)
  }

  // MARK: - On the thread

  private func supervise() {
    var limit = RestartLimit()
    while true {
      let cause: String
      do throws(CaptureError) {
        cause = try runChild()
      } catch {
        return conclude(error)
      }
      let death = "The plugin \(description.name) \(cause)"
      let isRestarting = state.withLock { if case .running = $0.phase { true } else { false } }
      guard isRestarting else { return conclude(.unavailable("\(death) while it started.")) }
      guard limit.allows(at: MonotonicClock.now()) else {
        return conclude(.unavailable("\(death) once more, after \(RestartLimit.most) restarts within a minute."))
      }
      report.count { $0.restarts += 1 }
      report.tell("\(death); it is started again (\(limit.count) of \(RestartLimit.most) in a minute).")
      feed.noteGap()
    }
  }

  /// No child any more. `error` matters unless the end was asked for.
  private func conclude(_ error: CaptureError) {
    let isLost = state.change { state -> Bool in
      switch state.phase {
      case .starting:
        state.phase = .failed(error)
        return false
      case .running:
        state.phase = .over
        return true
      case .finished, .stopping, .failed, .over:
        state.phase = .over
        return false
      }
    }
    if isLost { feed.end(.lost(error.sentence)) }
  }

  private enum Outcome {
    case gone
    case nonsense
    /// The plugin did not return from its `start`.
    case hung
    /// The plugin gave a reason why it cannot continue; a restart would be useless.
    case refused(CaptureError)
  }

  /// One life of a child, from its start to its end; returns how that came, in words.
  private func runChild() throws(CaptureError) -> String {
    let child = try program.start()
    let socket = child.socket
    let isWanted = state.change { state in
      state.child = child
      switch state.phase {
      case .stopping, .failed: return false
      case .starting, .running, .finished, .over: return true
      }
    }
    if isWanted { socket.send(load.bytes, isPatient: false) } else { socket.shutDown() }
    let outcome = follow(socket)
    socket.shutDown()
    switch outcome {
    case .nonsense, .hung: child.kill()
    case .gone, .refused: break
    }
    let end = child.end(within: 2000)
    state.change { $0.child = nil }
    switch outcome {
    case .gone: return end.description
    case .nonsense: return "sent nonsense from its process, as if it had overwritten its memory"
    case .hung: return "did not return from its `start` within \(patience.start.words), so its process was ended"
    case .refused(let error): throw error
    }
  }

  /// Handles the child's messages until it ends or sends an invalid one.
  private func follow(_ socket: MessageSocket) -> Outcome {
    var slots = [SharedSegment?](repeating: nil, count: ChannelSink.slotCount)
    var room: [UInt8] = []
    // Callers wait for the first start; this time limit is for restarts.
    socket.setPatience(patience.start + .seconds(1))
    while true {
      let (bytes, descriptor): ([UInt8], Int32?)
      switch socket.receive(into: &room) {
      case .message(let message, let passed): (bytes, descriptor) = (message, passed)
      case .silence: return .hung
      case .end: return .gone
      }
      defer { if let descriptor { close(descriptor) } }
      switch HostEvent(parsing: bytes) {
      case .described: break
      case .started(let format):
        state.change { state in
          state.format = format
          if case .starting = state.phase { state.phase = .running }
        }
        socket.setPatience(.zero)
        socket.send(HostCommand.pictureRoom.bytes, isPatient: false)
      case .failed(let error): return .refused(error)
      case .segment(let slot):
        guard Int(slot) < slots.count, let segment = descriptor.flatMap({ SharedSegment($0) }) else { return .nonsense }
        slots[Int(slot)] = segment
      case .picture(let picture):
        guard Int(picture.slot) < slots.count, let segment = slots[Int(picture.slot)],
          let frame = frame(picture, in: segment, socket)
        else { return .nonsense }
        take(frame, isCopy: picture.isCopy)
      case .sound(let sound):
        if case .taken = feed.offer(sound.believable) { report.count { $0.sounds += 1 } }
      case .notice(let text): report.tell(text)
      case .fault(let fault): report.note(fault)
      case .busy(let count): report.count { $0.busy &+= count }
      case .ended(let reason):
        state.change { if case .running = $0.phase { $0.phase = .finished } }
        feed.end(reason)
      case nil: return .nonsense
      }
    }
  }

  private func take(_ frame: VideoFrame, isCopy: Bool) {
    guard case .taken = feed.offer(frame, replacing: true) else { return }
    report.count {
      $0.pictures += 1
      if isCopy { $0.copies += 1 }
    }
  }

  private func frame(_ picture: SharedPicture, in segment: SharedSegment, _ socket: MessageSocket) -> VideoFrame? {
    guard PictureRules.sides.contains(picture.size.width), PictureRules.sides.contains(picture.size.height) else {
      return nil
    }
    // The socket stays open for as long as the picture is leased.
    let buffer = picture.buffer(in: segment) { [slot = picture.slot] in
      socket.send(HostCommand.release(slot: slot).bytes, isPatient: false)
    }
    let now = MonotonicClock.now()
    return buffer.map {
      VideoFrame(
        buffer: $0, captureTime: BelievableTime.holds(picture.captureTime, now: now) ? picture.captureTime : now,
        rotation: picture.rotation, damage: picture.damage, colorSpace: picture.colorSpace)
    }
  }
}

extension AudioFrame {
  /// With the present for a time that cannot be.
  fileprivate var believable: AudioFrame {
    let now = MonotonicClock.now()
    guard !BelievableTime.holds(captureTime, now: now) else { return self }
    return AudioFrame(format: format, samples: samples, captureTime: now)
  }
}
