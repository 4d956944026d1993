internal import RTCCapture
internal import RTCCodecFFmpeg
internal import RTCMedia
internal import RTCNet
internal import RTCPrimitives

/// One player: its state, its threads, and what they deliver. The player, its picture source and its sound source share
/// it.
final class PlaybackCore: Sendable {
  let info: FileInfo
  let options: FilePlayer.Options
  let monitor: PlaybackMonitor<PlayerState>
  let counters = PictureCounters()
  let events: AsyncStream<FilePlayer.Event>
  private let feed: AsyncStream<FilePlayer.Event>.Continuation
  private let readerThread = WorkerThread()
  private let videoThread = WorkerThread()
  private let audioThread = WorkerThread()

  private let hosts: FileHosts?

  /// - Parameter hosts: starts the process in which the file is demuxed and decoded; nil: this one.
  init(
    path: String, options: FilePlayer.Options, clock: PlaybackClock, passthrough: PassthroughFactory, hosts: FileHosts?
  ) throws(CaptureError) {
    let file = try Self.open(path, wantsAudio: options.playsSound, hosts)
    let contents = file.contents
    let video = contents.video.flatMap { passthrough.video($0.description) }
    let audio = contents.audio.flatMap { passthrough.audio($0.description) }
    var info = FileInfo(contents, path: path, encodedFormat: video?.format, isOpus: audio != nil)
    if let description = contents.video?.description, case .refused(let sentence) = PassthroughDecision(description) {
      info.passthroughRefusal = sentence
    }
    self.info = info
    self.options = options
    self.hosts = hosts
    var state = PlayerState(
      options: options, isTwofold: contents.video != nil && contents.audio != nil, videoPassthrough: video,
      audioPassthrough: audio)
    state.openedFile = file
    monitor = PlaybackMonitor(state, clock: clock)
    (events, feed) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(64))
  }

  deinit { feed.finish() }

  private static func open(_ path: String, wantsAudio: Bool, _ hosts: FileHosts?) throws(CaptureError) -> any FileMedia
  {
    guard let hosts else { return try OwnFileMedia.open(path: path, wantsAudio: wantsAudio) }
    return try hosts.open(path: path, wantsAudio: wantsAudio)
  }

  func tell(_ event: FilePlayer.Event) { feed.yield(event) }

  /// Stops the clock.
  func pause() {
    if monitor.change({ $0.pause($1) }) { tell(.paused) }
  }

  func resume() {
    if monitor.change({ $0.resume($1) }) { tell(.resumed) }
  }

  // MARK: - Starting and stopping

  func startVideo(maximumFrameRate: Double?, consumer: any VideoConsumer) {
    start(.video, videoThread, name: "rtc-file-video") { state in
      state.maximumFrameRate = maximumFrameRate
      state.pictures.removeAll()
    } body: { [self] run, thread in
      VideoDelivery(core: self, run: run, consumer: consumer).deliver(thread)
    } refused: {
      consumer.captureDidStart(.failure($0))
    }
  }

  func startAudio(consumer: any AudioConsumer) {
    start(.audio, audioThread, name: "rtc-file-audio") { state in
      state.sounds.removeAll()
    } body: { [self] run, thread in
      AudioDelivery(core: self, run: run, consumer: consumer).deliver(thread)
    } refused: {
      consumer.audioCaptureDidStart(.failure($0))
    }
  }

  func stopVideo() { stop(.video, videoThread) }
  func stopAudio() { stop(.audio, audioThread) }

  /// The delivery of `run` ends by itself: from here on the source may be started again.
  func noteEnded(_ track: PlayerState.Kind, run: Int, _ thread: WorkerRun) {
    let isLast = monitor.change { state, _ in
      if state[track].run == run { state.endRun(track) }
      return !state.isWanted
    }
    thread.noteEnded()
    if isLast { tell(.ended) }
  }

  private func start(
    _ track: PlayerState.Kind, _ thread: WorkerThread, name: String,
    prepare: (inout PlayerState) -> Void, body: @escaping @Sendable (Int, WorkerRun) -> Void,
    refused: (CaptureError) -> Void
  ) {
    let run = monitor.change { state, now -> Int? in
      guard state[track].run == nil else { return nil }
      state.beginAgainIfOver(now)
      let run = state.makeRun()
      state[track].run = run
      state.totalAtPassEnd = nil
      state[track].floor = max(state[track].floor, state.clock.media(at: now))
      prepare(&state)
      return run
    }
    guard let run else { return refused(.alreadyStarted) }
    monitor.enter(run)
    do throws(CaptureError) {
      try thread.startCapture(name: name) { [self] thread in
        body(run, thread)
        monitor.leave(run)
      }
    } catch {
      forget(track, run)
      return refused(error)
    }
    startReader()
  }

  private func stop(_ track: PlayerState.Kind, _ thread: WorkerThread) {
    let (run, isLast) = monitor.change { state, _ in
      let run = state[track].run
      state.endRun(track)
      return (run, run != nil && !state.isWanted)
    }
    if let run { monitor.leave(run) }
    thread.stop()
    if isLast { awaitReader() }
  }

  /// Ends both deliveries without waiting for them: this may be called on their threads.
  func abandon() {
    for track in [PlayerState.Kind.video, .audio] {
      let run = monitor.change { state, _ in
        defer { state.endRun(track) }
        return state[track].run
      }
      if let run { monitor.leave(run) }
    }
  }

  /// Waits until the reader has seen that nobody wants the file, or somebody wants it again: afterwards no picture is
  /// decoded that nobody asked for.
  private func awaitReader() {
    let reader = monitor.read { state, _ in state.readerRun }
    guard let reader else { return }
    // Without a seat of its own this thread holds no time back.
    monitor.wait(seat: -1) { state, _ in
      state.readerRun == reader && !state.isWanted ? .until(nil) : .ready(())
    }
  }

  private func forget(_ track: PlayerState.Kind, _ run: Int) {
    monitor.change { state, _ in
      if state[track].run == run { state.endRun(track) }
    }
    monitor.leave(run)
  }

  private func startReader() {
    let run = monitor.change { state, _ -> Int? in
      guard state.readerRun == nil, state.isWanted else { return nil }
      let run = state.makeRun()
      state.readerRun = run
      return run
    }
    guard let run else { return }
    monitor.enter(run)
    do throws(CaptureError) {
      try readerThread.startCapture(name: "rtc-file") { [self] thread in
        read(run, thread)
        monitor.leave(run)
      }
    } catch {
      noteUnreadable("\(info.path) cannot be read. \(error.sentence)", run)
    }
  }

  private func noteUnreadable(_ sentence: String, _ run: Int) {
    monitor.change { state, _ in
      state.appendEnd(.lost(sentence))
      state.seek = .none
      state.releaseSeekWaiters()
      state.readerRun = nil
    }
    monitor.leave(run)
  }

  private func read(_ run: Int, _ thread: WorkerRun) {
    do throws(CaptureError) {
      let opened = monitor.change { state, _ in
        defer { state.openedFile = nil }
        return state.openedFile
      }
      let file = if let opened { opened } else { try Self.open(info.path, wantsAudio: options.playsSound, hosts) }
      FileReader(core: self, seat: run, media: file).run { thread.noteEnded() }
    } catch {
      // It was there a moment ago.
      thread.noteEnded()
      noteUnreadable(error.sentence, run)
    }
  }
}
