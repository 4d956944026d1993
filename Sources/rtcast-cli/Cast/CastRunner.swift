import Glibc
import Logging
import RTCCaptureFile
import RTCEngine
import RTCMedia
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import RTCast

/// One cast from its start to its goodbye: capture, then serve or publish, then wait for a reason to end.
struct CastRunner {
  /// The source of a cast, as the command line describes it.
  struct Source {
    var media: MediaSource
    /// For the `capture` event: `screen`, `window` …
    var name: String
    var frameRate: Double
    /// The picture size to ask of the source; nil: the source's own.
    var size: PixelSize?
    var maximumSize: PixelSize?
    /// The player of a file, for the keys of the terminal.
    var player: FilePlayer?
    /// The options of each source that the caster picks on a page; nil: there is no such page.
    var pick: PickOptions?
  }

  private enum Event {
    case started(StartedSource)
    /// The source is still waiting for something, such as a program that writes into a pipe.
    case isSlow
    case broadcast(BroadcastEvent)
    case second
    case published
    case failed(CastFailure)
    case control(ControlRequest)
    case sourceChanged(CastControl.SourceChange)
    case key(PlaybackKey)
    /// Settings are to be read again.
    case reload
    /// The service manager expects a sign of life.
    case beat
    case run(RunReport)
    case end(CastEnding)
  }

  private let options: CastOptions
  private let output: CastOutput
  private let logger: Logger
  private let events: AsyncStream<Event>
  private let report: AsyncStream<Event>.Continuation
  /// The command that is cast; nil: the source is not one.
  private let stage: RunStage?
  private let servesViewers: Bool
  /// Keys and wishes to read the settings again that wait for the end of a change of the source.
  private static let mostDeferred = 100

  /// - Parameters:
  ///   - stage: the command of `rtcast run`, to be started when the cast has begun. The cast ends with it.
  ///   - servesViewers: false: the cast is only recorded, unless it is sent elsewhere.
  init(_ options: CastOptions, isFile: Bool = false, stage: RunStage? = nil, servesViewers: Bool = true) {
    self.options = options
    self.stage = stage
    self.servesViewers = servesViewers
    output = CastOutput(options, isFile: isFile, sharesTerminal: stage != nil)
    logger = StandardErrorLog.logger(verbosity: options.output.run.verbose)
    // The latest counts: an end is the last.
    (events, report) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(4_096))
  }

  /// Casts until an event ends the cast. Failures were printed when it throws.
  func run(_ command: some CastingCommand) async throws {
    do throws(CastFailure) {
      let token = try options.viewers.token.secret(
        link: options.destination.to?.token, preset: options.media.preset?.token,
        configured: options.destination.to == nil ? ConfigurationFiles.current.token : nil)
      let access = try ServedAccess.ofCast(
        options.destination.to == nil ? token : nil, options.viewers.access, logger)
      let report = report
      if case .hub(let target) = options.destination.to {
        let plan = try callPlan(target, try await source(of: command), token)
        return try await CallRunner(plan, logger: logger).perform()
      }
      let stage = stage
      try StopSignals.install(reload: { report.yield(.reload) }) { number in
        // The cast ends with the command.
        if stage?.stop(by: number, isTyped: StopSignals.isTyped) == true { return }
        report.yield(.end(.signal(number)))
      }
      try await cast(source(of: command), token, access)
    } catch {
      output.failed(error)
      throw error.status.code
    }
  }

  /// The command's source, with the requested sound.
  private func source(of command: some CastingCommand) async throws(CastFailure) -> Source {
    try await Source(of: command, logger)
  }

  /// - Parameters:
  ///   - token: of the service that is published to.
  ///   - access: who may watch.
  private func cast(_ source: Source, _ token: Secret?, _ access: ServedAccess) async throws(CastFailure) {
    let inlets = try ControlInlets(options.output.control)
    defer { inlets.close() }
    let peers = try openPeers()
    defer { peers.stop() }
    let rateLog = try options.output.rateLog.path.map { path throws(CastFailure) in try RateLogFile(path, logger) }
    defer { rateLog?.close() }
    var settings = broadcastOptions(source)
    settings.rateLog = rateLog?.log
    // Viewers need the servers as much as this side.
    settings.iceServers = peers.options.iceServers
    let broadcast = Broadcast(source.media, options: settings, peers: peers)
    // Before the source starts, because the first key frame of a file that is passed on may be its only one.
    let recorder = try record(broadcast, hasVideo: source.media.video != nil)
    let served: CastControl.Served?
    let pick: PickServer?
    do throws(CastFailure) {
      if let ending = try await begin(broadcast, source) {
        recorder?.finish()
        return output.ended(ending, after: 0)
      }
      // After that, since a printed link must belong to a running cast.
      try takeCommands(from: inlets)
      served = try await serve(broadcast, peers, access.gate)
      pick = try await servePick(source, broadcast, served)
    } catch {
      await broadcast.stop()
      recorder?.finish()
      throw error
    }
    let start = MonotonicClock.now()
    source.player?.tellShortcomings(to: logger)
    let watchers = watch(broadcast, player: source.player, token)
    do throws(CastFailure) { try startCommand() } catch { report.yield(.failed(error)) }
    let control = CastControl(
      options, output, logger, broadcast, served, sourceName: source.name,
      ended: { [report] in report.yield(.sourceChanged($0)) })
    let service = CastService(served?.server, destination: options.destination.to?.text)
    let result = await follow(source, control, access, service, pick?.picker)
    ServiceNotifier.current?.tell(.stopping)
    for watcher in watchers { watcher.cancel() }
    TerminalKeys.restore()
    await broadcast.stop()  // the goodbyes go out while the server can still say that the cast is over
    if let recorder { finish(recorder) }
    await pick?.stop()
    await served?.close()
    let ending = try result.get()
    output.ended(ending, after: Int64((MonotonicClock.now() - start).seconds))
    if let failure = ending.failure { throw failure }
  }

  // MARK: - Start

  /// Starts the source. Viewers need not wait for a source that waits itself, so after a moment starting continues in
  /// the background.
  /// - Returns: an ending, if the cast is over before it began.
  private func begin(_ broadcast: Broadcast, _ source: Source) async throws(CastFailure) -> CastEnding? {
    let report = report
    let patience = Task { if (try? await Task.sleep(for: .milliseconds(500))) != nil { report.yield(.isSlow) } }
    defer { patience.cancel() }
    Task {
      do throws(CaptureError) {
        report.yield(.started(try await broadcast.start()))
      } catch {
        report.yield(.failed(CastFailure(error)))
      }
    }
    for await event in events {
      switch event {
      case .started(let started):
        output.captureStarted(started, source: source.name)
        return nil
      case .isSlow: return nil
      case .failed(let failure): throw failure
      case .end(let ending):
        await broadcast.stop()
        return ending
      case .broadcast, .second, .published, .control, .sourceChanged, .key, .reload, .beat, .run:
        continue  // nobody reports them yet
      }
    }
    return nil
  }

  private func openPeers() throws(CastFailure) -> PeerLoop {
    var service: String?
    if case .whip(let url, _)? = options.destination.to { service = url }
    return try options.network.openPeers(
      preset: options.media.preset, serversMayFollow: service != nil, by: service.flatMap { WebAddress($0)?.host },
      logger)
  }

  private func broadcastOptions(_ source: Source) -> Broadcast.Options {
    var broadcast = Broadcast.Options()
    broadcast.frameRate = source.frameRate
    broadcast.captureSize = source.size
    broadcast.maximumSize = source.maximumSize
    broadcast.codec = options.media.codec
    broadcast.chroma = options.media.chroma
    broadcast.scalabilityMode = options.media.scalabilityMode
    if options.media.choosesCodec {
      broadcast.codecCosts = CodecCostsFile.costs(of: .standard) { sentence in logger.info("\(sentence)") }
    }
    broadcast.contentHint = options.media.contentHint
    broadcast.bitrates = options.media.bitrateLimits
    broadcast.rateControl = options.media.rateControl
    broadcast.processorLimit = options.viewers.processorLimit?.value
    if let limits = options.media.preset?.audio { broadcast.audioBitrates = limits }
    // Later sources of --control may have sound even if this source has none.
    broadcast.offersAudio = takesControl ? options.media.audio != .silence : nil
    if takesControl { broadcast.offeredFormats = EncodedVideoFormat.common }
    // When a source of --control ends, the first one returns.
    broadcast.outlivesSource = takesControl || source.pick != nil
    broadcast.waitsForReceiver = options.destination.to != nil
    return broadcast
  }

  /// Listens for viewers and prints the links; nothing when the cast is published.
  private func serve(
    _ broadcast: Broadcast, _ peers: PeerLoop, _ gate: AccessGate
  ) async throws(CastFailure) -> CastControl.Served? {
    guard options.destination.to == nil, servesViewers else { return nil }
    OpenFiles.allowMost()
    let access = options.viewers.access
    // A server on every address is reached from elsewhere by the addresses of this machine.
    let outward = peers.hostAddresses().map(\.ip)
    let certificate = try access.certificate(addresses: outward.map(\.description) + ["127.0.0.1", "::1"])
    let named = options.viewers.listen
    let passed = try PassedSockets.take(unlessListeningAt: named == .loopback ? nil : named)
    let socket = try access.socket(at: named)
    var configuration = SignalingServerConfiguration(
      listen: passed?.address ?? named, gate: gate, hostNames: access.hostName)
    configuration.inheritedSockets = (passed?.descriptors ?? []) + [socket?.descriptor].compactMap(\.self)
    configuration.tls = certificate?.identity
    access.configure(&configuration)
    if let audit = try access.auditFile(logger) { configuration.audit = { audit.write($0) } }
    configuration.limits.connections = OpenFiles.share(of: configuration.limits.connections)
    let server: SignalingServer
    do throws(SignalingServerError) {
      server = try await SignalingServer.start(configuration, sessions: broadcast.whep, logger: logger)
    } catch {
      socket?.remove()
      throw CastFailure(error)
    }
    let links = ServerLinks(server, gate, access, certificate: certificate, outward: outward, hasHub: false)
    output.listening(at: links)
    let output = output
    let outside =
      options.network.mapsPort
      ? try OutsidePage(server, gate.secret, logger, onLink: { output.mapped(to: $0) }) : nil
    return CastControl.Served(server: server, links: links, socket: socket, outside: outside)
  }

  /// Serves the page on which the caster picks, and prints its link; nothing without `--pick`.
  private func servePick(
    _ source: Source, _ broadcast: Broadcast, _ served: CastControl.Served?
  ) async throws(CastFailure) -> PickServer? {
    guard let options = source.pick else { return nil }
    let report = report
    let cast = CastPicker.Cast(
      links: served?.links.urls ?? [], destination: self.options.destination.to?.text,
      viewers: { await broadcast.glance().viewers }, deliver: { report.yield(.control($0)) })
    do throws(CastFailure) {
      let server = try await PickServer.start(options, cast, logger)
      output.picking(at: server.link)
      return server
    } catch {
      await served?.close()
      throw error
    }
  }

  private func takeCommands(from inlets: ControlInlets) throws(CastFailure) {
    let (output, report) = (output, report)
    try inlets.start(respond: { output.answer($0) }, deliver: { report.yield(.control($0)) })
  }

  // MARK: - During the cast

  /// Starts the tasks that report events.
  private func watch(_ broadcast: Broadcast, player: FilePlayer?, _ token: Secret?) -> [Task<Void, Never>] {
    let report = report
    var tasks = [
      Task { for await event in broadcast.events { report.yield(.broadcast(event)) } }
    ]
    if output.showsStatistics || takesControl {
      tasks.append(
        Task {
          while (try? await Task.sleep(for: .seconds(1))) != nil { report.yield(.second) }
        })
    }
    if let duration = options.output.run.duration {
      tasks.append(
        Task { if (try? await Task.sleep(for: .seconds(duration))) != nil { report.yield(.end(.durationOver)) } })
    }
    if player != nil, output.isLive, !options.output.control.readsStandardInput, TerminalKeys.isPossible {
      tasks.append(Task { for await key in TerminalKeys.start() { report.yield(.key(key)) } })
    }
    if let beats = ServiceNotifier.current?.beats({ report.yield(.beat) }) { tasks.append(beats) }
    if let target = options.destination.to {
      tasks.append(Task { await publish(broadcast, to: target, token) })
    }
    return tasks
  }

  private var takesControl: Bool { options.output.control.takesCommands }

  private func publish(_ broadcast: Broadcast, to target: CastTarget, _ token: Secret?) async {
    do throws(PublishFailure) {
      switch target {
      case .whip(let url, _): try await broadcast.publish(to: url, token: token?.text)
      case .manual: try await exchangeByHand(broadcast)
      case .hub: return  // a call, not a broadcast
      }
      report.yield(.published)
    } catch {
      report.yield(.failed(CastFailure(error)))
    }
  }

  /// Prints our offer and takes the answer that is pasted.
  private func exchangeByHand(_ broadcast: Broadcast) async throws(PublishFailure) {
    let call = CallOutput(isJSON: options.output.run.json)
    try await broadcast.connect { offer in
      call.prompt("Give this offer to the remote peer; paste its answer here, followed by an empty line.")
      call.description("offer", offer)
      let lines = await StandardInput.paragraph(StandardInput.lines()) ?? []
      guard let answer = PastedDescription.sdp(in: lines) else { throw PastedDescription.refusal }
      return answer
    }
  }

  /// The cast as one side of a call.
  private func callPlan(_ target: HubTarget, _ source: Source, _ token: Secret?) throws(CastFailure) -> CallPlan {
    let options = options.destination.hub
    let hub = try options.hub(for: target)
    var token = token
    if let shared = hub.token, !self.options.viewers.token.isGiven {
      token = try Secret.checked(shared, from: "The link's token")
    }
    var plan = CallPlan(
      target: .place(target.place), hub: hub.address, options, token: token, self.options.output.run)
    plan.media = source.media
    plan.configuration = self.options.media.callConfiguration(for: source)
    plan.network = self.options.network
    plan.recording = self.options.output.recording
    plan.rateLog = self.options.output.rateLog.path
    plan.control = self.options.output.control
    return plan
  }

  private func follow(
    _ source: Source, _ control: CastControl, _ access: ServedAccess, _ service: CastService, _ picker: CastPicker?
  ) async -> Result<CastEnding, CastFailure> {
    let player = source.player
    let broadcast = control.broadcast
    var control = control
    var service = service
    var usage = ProcessUsage()
    var limitation: QualityLimitation?
    var notices = CastNotices()
    /// Whether a source of --control has replaced `source`.
    var isReplaced = false
    /// The end of a source that came before the end of a change was known here.
    var endDuringChange: CaptureEnd?
    /// Keys and wishes that came during a change of the source.
    var eventsDuringChange: [Event] = []
    defer { control.end() }
    for await event in events {
      switch event {
      case .broadcast(.qualityLimited(let change)):
        limitation = change
        output.limited(change)
        logger.info("\(change.map { "Less is sent: \($0.sentence)." } ?? "Everything is sent again.")")
      case .broadcast(.ended(let end)):
        guard !control.isChanging else {
          endDuringChange = end
          continue
        }
        // A source that was replaced meanwhile is ignored.
        guard broadcast.isSourceEnded else { continue }
        guard isReplaced else { return .success(CastEnding(end)) }
        isReplaced = false
        picker?.note(nil)
        control.takeBack(source, after: end)
      case .broadcast(.viewerJoined(let id)):
        let keys = await broadcast.keyCode(ofViewer: id)
        logger.info("A viewer joined.", metadata: ["viewer": "\(id)", "keys": "\(keys ?? "none")"])
        output.viewerJoined(id, keys: keys)
        service.note(.viewerJoined(id: id))
      case .broadcast(let event):
        notices.note(event, now: MonotonicClock.now())
        service.note(event)
        if let ending = handle(event), !awaitsCommand(ending) { return .success(ending) }
      case .second:
        let report = StatisticsReport(
          broadcast: await broadcast.statistics(), process: usage.read(), progress: player.map(ProgressBar.init),
          limitation: limitation, notice: notices.text(now: MonotonicClock.now()))
        if output.showsStatistics { output.statistics(report) }
        control.measured = report
      case .key(let key) where control.isChanging && key != .end:
        if eventsDuringChange.count < Self.mostDeferred { eventsDuringChange.append(event) }
      case .reload where control.isChanging:
        if eventsDuringChange.count < Self.mostDeferred { eventsDuringChange.append(event) }
      case .key(let key):
        guard let player else { continue }
        if key == .end { return .success(.signal(SIGINT)) }
        await handle(key, player, broadcast)
        if var report = control.measured {
          report.progress = ProgressBar(player)
          output.statistics(report)
        }
      case .started(let started): output.captureStarted(started, source: source.name)
      case .isSlow: continue
      case .published:
        output.published(to: options.destination.to?.text ?? "")
        service.isPublished()
      case .reload: await reload(broadcast, control.served?.server, access)
      case .beat:
        // The service manager learns that each thread that a cast needs has answered.
        _ = await broadcast.statistics()
        await control.served?.server.answer()
        ServiceNotifier.current?.tell(.watchdog)
      case .control(let request):
        if case .stop = await control.take(request), !awaitsCommand(.stopped) { return .success(.stopped) }
      case .sourceChanged(let change):
        if change.request == nil, case .failure(let error) = change.result { return .failure(CastFailure(error)) }
        if let words = change.words {
          isReplaced = true
          picker?.note(words)
        }
        if case .stop = await control.finish(change), !awaitsCommand(.stopped) { return .success(.stopped) }
        if let end = endDuringChange { report.yield(.broadcast(.ended(end))) }
        for event in eventsDuringChange { report.yield(event) }
        (endDuringChange, eventsDuringChange) = (nil, [])
      case .run(let report): if isOver(report) { return .success(.commandEnded) }
      case .failed(let failure):
        guard let stage, stage.isRunning else { return .failure(failure) }
        output.failed(failure)
      case .end(let ending): if !awaitsCommand(ending) { return .success(ending) }
      }
    }
    return .success(.sourceFinished)  // never: the stream is not finished by anybody
  }

  // MARK: - Recording

  /// Records the sent media, if requested.
  private func record(_ broadcast: Broadcast, hasVideo: Bool) throws(CastFailure) -> Recorder? {
    guard let path = options.output.recording.record else { return nil }
    let (logger, output) = (logger, output)
    do throws(RecordingError) {
      let recorder = try Recorder(
        path: path, hasVideo: hasVideo, hasAudio: broadcast.offersAudio, files: .ofProgram,
        segments: options.output.recording.segments,
        onKeyFrameWanted: { [weak broadcast] in broadcast?.requestRecordedKeyFrame() }
      ) { event in
        event.log(to: logger, orFail: output.recordingFailed)
        if case .segmentCompleted(let path, let bytes) = event { output.recorded(path, bytes: bytes) }
      }
      broadcast.add(recorder)
      return recorder
    } catch {
      throw CastFailure(error)
    }
  }

  private func finish(_ recorder: Recorder) {
    recorder.finish()
    output.recorded(recorder.progress)
  }

  // MARK: - What happens

  private func handle(_ key: PlaybackKey, _ player: FilePlayer, _ broadcast: Broadcast) async {
    switch key {
    case .pause: if broadcast.isPaused { try? await broadcast.resume() } else { broadcast.pause() }
    case .back: await player.seek(by: .seconds(-10))
    case .forward: await player.seek(by: .seconds(10))
    case .mute: player.setMuted(!player.isMuted)
    case .end: break
    }
  }

  private func handle(_ event: BroadcastEvent) -> CastEnding? {
    switch event {
    case .viewerJoined: break  // taken before
    case .viewerLeft(let id, let reason):
      logger.info("A viewer left.", metadata: ["viewer": "\(id)", "reason": "\(reason.word)"])
      if reason == .tooCostly {
        logger.warning(
          "A viewer was disconnected: its packets took more than its share of the processor.",
          metadata: ["viewer": "\(id)"]
        )
      }
      output.viewerLeft(id, reason)
    case .viewerDelayed(let id, let address, _, let sentence):
      logger.warning("A viewer at \(address) is not connected yet. \(sentence)", metadata: ["id": "\(id)"])
      output.viewerDelayed(id, from: address, sentence)
    case .viewerFailed(let id, let address, let reason):
      logger.warning("\(reason.failureSentence(of: address))", metadata: ["viewer": "\(id)"])
      output.viewerFailed(id, from: address, reason)
    case .qualityLimited: break  // taken before
    case .formatChanged(let size):
      logger.info("The picture is now \(size).")
    case .codecChanged(let format, let viewers):
      logger.info("Encoding \(format.words) for \(viewers) viewer\(viewers == 1 ? "" : "s").")
    case .encoderFailed(let sentence):
      logger.error("\(sentence)")
    case .keyFrameAwaited(let wait):
      logger.info("A viewer waits \(wait.milliseconds) ms for the file's next key frame.")
    case .transcoding(let wait):
      let distance = wait.map { "\($0.milliseconds) ms away" } ?? "not known"
      logger.info("A viewer gets pictures encoded here until the file's next key frame, which is \(distance).")
    case .sourceStalled(let sentence):
      logger.warning("\(sentence)")
      output.sourceChanged(sentence)
    case .sourceResumed:
      logger.notice("The source delivers again.")
      output.sourceChanged(nil)
    case .audioLost(let sentence):
      logger.warning("Sound has stopped: \(sentence)")
    case .ended(let end): return CastEnding(end)
    case .publishInterrupted(let sentence, let wait):
      logger.warning("\(sentence) Publishing again\(wait > .zero ? " in \(max(1, wait.milliseconds / 1_000)) s" : "").")
      output.publicationChanged(options.destination.to?.text ?? "", "interrupted")
    case .publishResumed:
      logger.info("Published again.")
      output.publicationChanged(options.destination.to?.text ?? "", "resumed")
    case .publishEnded(let reason): return .publicationEnded(reason)
    case .publishFailed(let failure): return .publicationRefused(CastFailure(failure))
    }
    return nil
  }
}

// MARK: - With a command

extension CastRunner {
  /// Starts the command of `rtcast run`, if there is one.
  private func startCommand() throws(CastFailure) {
    let report = report
    try stage?.startCommand { report.yield(.run($0)) }
  }

  /// Whether the cast goes on until its command has ended. The command is asked to end if the user wants the end. A failure to send
  /// does not disturb the command, but is reported.
  private func awaitsCommand(_ ending: CastEnding) -> Bool {
    guard let stage, stage.isRunning else { return false }
    switch ending {
    case .signal(let number): stage.stop(by: number)
    case .stopped, .durationOver: stage.stop(by: SIGTERM)
    case .publicationEnded, .publicationRefused: if let failure = ending.failure { output.failed(failure) }
    case .sourceFinished, .sourceLost, .commandEnded: return false
    }
    return true
  }

  /// Reports what happened to the command and its display.
  /// - Returns: true if the command has ended.
  private func isOver(_ report: RunReport) -> Bool {
    guard let stage else { return false }
    switch report {
    case .commandStarted: output.commandStarted(stage)
    case .commandEnded(let status):
      output.commandEnded(stage.status(after: .ended(status: status)))
      return true
    case .commandNotStarted(let error):
      output.commandRefused(stage.refusal(error), status: stage.status(after: .notStarted(error: error)))
      return true
    case .soundEnded: logger.warning("There is no sound any more: PulseAudio has ended.")
    case .windowManagerEnded: logger.warning("The window manager has ended: \(stage.plan.windowManager ?? "").")
    // The cast of a display that is gone ends by itself.
    case .displayEnded: return !stage.isRunning
    case .ready, .displayFailed: break
    }
    return false
  }
}

// MARK: - As a service

extension CastRunner {
  /// Reads certificate, token and preset again. What cannot be read leaves everything as it was.
  private func reload(_ broadcast: Broadcast, _ server: SignalingServer?, _ access: ServedAccess) async {
    ServiceNotifier.current?.tellReloading()
    defer { ServiceNotifier.current?.tell(.ready) }
    do throws(CastFailure) {
      let media = try options.media.withPresetReadAgain()
      if let server { try reload(server, access, preset: media.preset) }
      await broadcast.setBitrates(media.bitrateLimits)
      if let rate = media.maximumFrameRate { try await set(rate, broadcast) }
      if let hint = media.contentHint { broadcast.setContentHint(hint) }
      logger.notice("Certificate, token and preset were read again.")
    } catch {
      logger.error("\(error.sentence) The settings stay as they were.")
    }
  }

  private func reload(_ server: SignalingServer, _ access: ServedAccess, preset: Preset?) throws(CastFailure) {
    // A secret that was made for this cast is in no file.
    if let token = try options.viewers.token.secret(preset: preset?.token) {
      try access.adopt(ServedAccess.ofCast(token, options.viewers.access, logger))
    }
    guard let certificate = try options.viewers.access.certificate(addresses: ["127.0.0.1", "::1"]) else { return }
    do throws(SignalingServerError) { try server.show(certificate.identity) } catch { throw CastFailure(error) }
  }

  private func set(_ rate: Double, _ broadcast: Broadcast) async throws(CastFailure) {
    do throws(CaptureError) { try await broadcast.setFrameRate(rate) } catch { throw CastFailure(error) }
  }
}
