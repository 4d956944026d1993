import Glibc
import Logging
import RTCAudio
import RTCMedia
import RTCPeer
import RTCSignaling
import RTCWindow
import RTCast

/// One run of calls, from registering at the hub to the goodbye.
struct CallRunner {
  private enum Event: Sendable {
    case call(CallEvent)
    case window(CallWindow.Event?)
    case line(String)
    case control(ControlRequest)
    case second
    case stop(Int32)
    case durationOver
    /// The service manager expects a sign of life.
    case beat
    case eventsEnded
  }

  /// Why a run is over.
  private enum Ending {
    case done(String)
    case failed(CastFailure)
  }

  private let plan: CallPlan
  private let output: CallOutput
  private let logger: Logger
  private let events: AsyncStream<Event>
  private let report: AsyncStream<Event>.Continuation
  private let chat: CallChat

  init(_ plan: CallPlan, logger: Logger) {
    self.plan = plan
    self.logger = logger
    output = CallOutput(isJSON: plan.isJSON)
    chat = CallChat(output)
    // The latest counts: an end is the last.
    (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Runs the call and returns when it is over or was stopped. Failures were printed when it throws.
  func run() async throws {
    do throws(CastFailure) { try await perform() } catch {
      output.failed(error)
      throw error.status.code
    }
  }

  /// As `run`, but without printing failures.
  func perform() async throws(CastFailure) {
    let report = report
    try StopSignals.install { number in report.yield(.stop(number)) }
    let inlets = try ControlInlets(plan.control)
    defer { inlets.close() }
    let show = try CallShow(
      title: title, showsWindow: plan.showsWindow, recording: plan.recording, output: output, logger: logger
    ) { report.yield(.window($0)) }
    let peers = try plan.network.openPeers(
      servers: plan.configuration.iceServers, serversMayFollow: true, by: plan.hub.web.host, logger)
    defer { peers.stop() }
    let rateLog = try plan.rateLog.map { path throws(CastFailure) in try RateLogFile(path, logger) }
    defer { rateLog?.close() }
    let calls = try makeManager(peers, rateLog?.log)
    let ending = await call(calls, show, inlets)
    ServiceNotifier.current?.tell(.stopping)
    await calls.disconnect()
    await show.finish()
    switch ending {
    case .done(let reason): output.ended(reason)
    case .failed(let failure): throw failure
    }
  }

  /// From registering to the end.
  private func call(_ calls: CallManager, _ show: CallShow, _ inlets: ControlInlets) async -> Ending {
    let name: String
    do throws(CallManagerError) {
      name = try await calls.setupConnection()
      output.registered(as: name, at: plan.hub)
      ServiceNotifier.current?.tell(.status("Registered as \(name)."), .ready)
    } catch {
      return .failed(CastFailure(error))
    }
    let (output, report) = (output, report)
    do throws(CastFailure) {
      try inlets.start(respond: { output.answer($0) }, deliver: { report.yield(.control($0)) })
    } catch {
      return .failed(error)
    }
    let tasks = watch(calls)
    defer { for task in tasks { task.cancel() } }
    do throws(CallManagerError) { try await begin(calls) } catch { return .failed(CastFailure(error)) }
    let control = CallControl(chat, output, logger, name: name, server: plan.hub.description)
    return await follow(calls, show, control)
  }

  private var title: String {
    switch plan.target {
    case .place(.peer(let name)): "rtcast: \(name)"
    case .place(.room(let name)): "rtcast: room \(name)"
    case .anybody: "rtcast"
    }
  }

  /// Whether it waits for calls, one after the other.
  private var isWaiting: Bool { if case .anybody = plan.target { true } else { false } }

  private func makeManager(_ peers: PeerLoop, _ rateLog: RateLog?) throws(CastFailure) -> CallManager {
    let logger = logger
    let device = PulseAudioDevice(onNotice: { logger.warning("\($0)") })
    var configuration = plan.configuration
    configuration.dataChannels = [CallChat.label]
    configuration.rateLog = rateLog
    configuration.iceServers = []  // the media plane has them
    let signaling = HubSignaling(plan.hub, name: plan.name, token: plan.token)
    do {
      return try CallManager.initialize(
        signalingServer: signaling, config: configuration, audioDevice: device, codecs: .isolated(logger),
        peers: peers)
    } catch {
      throw CastFailure(.unavailable, "\(error)")
    }
  }

  private func watch(_ calls: CallManager) -> [Task<Void, Never>] {
    let report = report
    var tasks = [
      Task {
        for await event in calls.events { report.yield(.call(event)) }
        report.yield(.eventsEnded)
      }
    ]
    if let duration = plan.duration {
      tasks.append(
        Task { if (try? await Task.sleep(for: .seconds(duration))) != nil { report.yield(.durationOver) } })
    }
    if let beats = ServiceNotifier.current?.beats({ report.yield(.beat) }) { tasks.append(beats) }
    if plan.isJSON {
      tasks.append(Task { while (try? await Task.sleep(for: .seconds(1))) != nil { report.yield(.second) } })
    }
    if case .ask = plan.answer, plan.control?.readsStandardInput != true {
      tasks.append(Task { for await line in StandardInput.lines() { report.yield(.line(line)) } })
    }
    return tasks
  }

  private func begin(_ calls: CallManager) async throws(CallManagerError) {
    if plan.media.video != nil || plan.media.audio != nil { try await calls.startRecording(source: plan.media) }
    switch plan.target {
    case .place(.peer(let name)): try await calls.sendCallRequest(to: name)
    case .place(.room(let name)): _ = try await calls.join(room: name)
    case .anybody: break
    }
  }

  // MARK: - During the call

  private func follow(_ calls: CallManager, _ show: CallShow, _ control: CallControl) async -> Ending {
    // Another source has taken the place of the plan's, by --control.
    var isReplaced = false
    for await event in events {
      switch event {
      case .call(.sourceEnded(let sentence)):
        // A source that was replaced meanwhile is ignored.
        guard await calls.isSourceEnded else { continue }
        if !isReplaced, let ending = sourceEnded(sentence) { return ending }
        isReplaced = false
        do throws(CallManagerError) { try await takeBack(after: sentence, calls) } catch {
          return .failed(CastFailure(error))
        }
      case .call(let event): if let ending = await hear(event, calls, show) { return ending }
      case .window(let event): if let ending = await handle(event, calls, show) { return ending }
      case .line(let line): await answer(line, calls)
      case .control(let request):
        switch await control.perform(request, calls) {
        case .source: isReplaced = true
        case .hangUp: if case .place(.room) = plan.target { return .done("hung up") }
        case .stop: return .done("stopped")
        default: continue
        }
      case .second: for each in await calls.statistics() { output.statistics(each) }
      case .beat:
        _ = await calls.state
        ServiceNotifier.current?.tell(.watchdog)
      case .stop(SIGINT): return .done("interrupted")
      case .stop: return .done("terminated")
      case .durationOver: return .done("duration over")
      case .eventsEnded: return .done("ended")
      }
    }
    return .done("ended")  // never: the stream is not finished by anybody
  }

  private func hear(_ event: CallEvent, _ calls: CallManager, _ show: CallShow) async -> Ending? {
    switch event {
    case .callChanged(let state): return await changed(state, calls, show)
    case .roomCallChanged(let room, let state):
      output.state(state, room: room, keys: await keys(of: state, calls))
    case .peerJoined(let room, let peer): output.presence(peer, room: room, isThere: true)
    case .peerLeft(let room, let peer): output.presence(peer, room: room, isThere: false)
    case .peersPresent, .peerArrived, .peerGone: break
    case .roomRefused(_, let sentence): return .failed(CastFailure(.unavailable, sentence))
    case .localVideoAdded(let track): await show.setPreview(track)
    case .localVideoRemoved: await show.setPreview(nil)
    case .localAudioAdded, .localAudioRemoved: break
    case .remoteVideoAdded(let track):
      output.track(of: track.peer, kind: "video", "added", content: track.content)
      await show.add(track)
    case .remoteVideoRemoved(let track):
      output.track(of: track.peer, kind: "video", "removed")
      await show.remove(track)
    case .remoteVideoChanged(let track):
      output.track(of: track.peer, kind: "video", "changed", content: track.content)
      await show.change(track)
    case .remoteAudioAdded(let track):
      output.track(of: track.peer, kind: "audio", "added")
      await show.add(track)
    case .remoteAudioRemoved(let track):
      output.track(of: track.peer, kind: "audio", "removed")
      await show.remove(track)
    case .dataChannel(let channel, let peer): await chat.add(channel, of: peer)
    case .remoteMuted(let peer, let kind, let isMuted): output.muted(peer, kind: kind, isMuted)
    case .sourceEnded: break  // taken before
    case .warning(let sentence): logger.warning("\(sentence)")
    case .signalingInterrupted(let sentence):
      logger.warning("\(sentence) Reconnecting; an established call continues.")
      output.signaling("interrupted", sentence: sentence)
    case .signalingResumed: output.signaling("resumed", sentence: nil)
    case .signalingEnded(let sentence):
      output.signaling("ended", sentence: sentence)
      switch await calls.state {
      case .connected, .reconnecting: return nil
      case .idle, .ringing, .connecting, .ended: break
      }
      return .failed(CastFailure(.unavailable, sentence))
    }
    return nil
  }

  private func changed(_ state: CallState, _ calls: CallManager, _ show: CallShow) async -> Ending? {
    if case .ended(let party, let end) = state, !isWaiting, let failure = CastFailure(end, peer: party.peer) {
      output.state(state, isFailure: true)
      return .failed(failure)
    }
    let code = await keys(of: state, calls)
    output.state(state, keys: code)
    switch state {
    case .connected: if let code { await show.setKeys(code) }
    case .ringing(_, .callee): await greet(calls)
    case .ended(_, let end):
      guard isWaiting else { return .done(end.word) }
      await show.reset()
    case .idle, .ringing, .connecting, .reconnecting: break
    }
    return nil
  }

  /// The code of both sides' keys, once a call is connected.
  private func keys(of state: CallState, _ calls: CallManager) async -> String? {
    guard case .connected(let party, _) = state else { return nil }
    return await calls.statistics().first { $0.peer == party.peer }?.connection.keyCode
  }

  private func greet(_ calls: CallManager) async {
    switch plan.answer {
    case .auto: try? await calls.answerCallRequest(accept: true)
    case .reject: try? await calls.answerCallRequest(accept: false)
    case .ask: if !plan.isJSON { Terminal.print("Accept? Type y or n, and press Enter.") }
    }
  }

  private func answer(_ line: String, _ calls: CallManager) async {
    guard let letter = line.lowercased().first(where: { !$0.isWhitespace }), "yn".contains(letter) else { return }
    try? await calls.answerCallRequest(accept: letter == "y")
  }

  /// The source of --control has ended: returns to the call's first source.
  private func takeBack(after sentence: String?, _ calls: CallManager) async throws(CallManagerError) {
    if let sentence { logger.warning("\(sentence)") }
    guard plan.media.video == nil, plan.media.audio == nil else {
      return try await calls.startRecording(source: plan.media)
    }
    try await calls.stopVideoRecording()
  }

  /// A file that has been played is the end of a call that was made to show it.
  private func sourceEnded(_ sentence: String?) -> Ending? {
    guard let sentence else { return plan.media.video == nil ? nil : .done("source finished") }
    return .failed(CastFailure(.unavailable, sentence))
  }

  private func handle(_ event: CallWindow.Event?, _ calls: CallManager, _ show: CallShow) async -> Ending? {
    switch event {
    case .closed?:
      if case .anybody = plan.target {
        await calls.endCall()
        return nil
      }
      return .done("window closed")
    case .lost(let sentence)?: logger.warning("\(sentence)")
    case .toggleMicrophone?: if let track = await calls.localAudioTrack { track.isEnabled.toggle() }
    case .toggleCamera?: if let track = await calls.localVideoTrack { track.isEnabled.toggle() }
    case .unshowable(_, let sentence)?: logger.warning("\(sentence)")
    case .fullScreen?, .previewHidden?, nil: return nil
    }
    await show.setMuted(
      microphone: await calls.localAudioTrack?.isEnabled == false,
      camera: await calls.localVideoTrack?.isEnabled == false)
    return nil
  }
}
