internal import RTCCapture
internal import RTCMedia
internal import RTCNet
internal import RTCPrimitives

/// Hands one run's pictures to their consumer when they are due. On the thread of that name.
struct VideoDelivery {
  let core: PlaybackCore
  let run: Int
  let consumer: any VideoConsumer

  func deliver(_ thread: WorkerRun) {
    guard let isPlayable = core.monitor.wait(seat: run, { $0.videoStart(run: run, $1) }) else { return }
    guard isPlayable, let format = core.info.videoFormat else {
      core.noteEnded(.video, run: run, thread)
      return consumer.captureDidStart(.failure(FileRefusal.undecodable(core.info.path)))
    }
    consumer.captureDidStart(.success(format))
    core.tell(.started)
    core.noteIfEmpty(.video)
    var last = Timestamp.zero
    var freeSince = core.monitor.read { $1 }
    while true {
      switch core.monitor.wait(seat: run, { $0.nextVideo(run: run, last: last, freeSince: freeSince, $1) }) {
      case .stop: return
      case .dropped: continue
      case .picture(let item, let time, let damage):
        last = time + .nanoseconds(1)
        core.notePass(reached: item.time)
        consumer.consume(
          VideoFrame(
            buffer: item.buffer, captureTime: time, rotation: item.rotation, damage: damage,
            colorSpace: item.colorSpace))
        core.monitor.spend(\.consuming, seat: run)
        freeSince = core.monitor.read { $1 }
      case .packet(let packet, let time, let passthrough, let target):
        core.notePass(reached: packet.time)
        let now = core.monitor.read { $1 }
        if let frame = passthrough.frame(of: packet, captureTime: time, now: now) {
          target.consume(frame)
        } else if let sentence = passthrough.impassable {
          target.passthroughDidEnd(sentence)
        }
      case .end(let reason):
        core.noteIfEmpty(.video)
        core.noteEnded(.video, run: run, thread)
        return consumer.captureDidEnd(reason)
      }
    }
  }
}

/// Hands one run's sound to its consumer when it is due. On the thread of that name.
struct AudioDelivery {
  let core: PlaybackCore
  let run: Int
  let consumer: any AudioConsumer

  func deliver(_ thread: WorkerRun) {
    guard let isPlayable = core.monitor.wait(seat: run, { $0.audioStart(run: run, $1) }) else { return }
    guard isPlayable, let format = core.info.audioFormat else {
      core.noteEnded(.audio, run: run, thread)
      return consumer.audioCaptureDidStart(.failure(FileRefusal.undecodable(core.info.path)))
    }
    consumer.audioCaptureDidStart(.success(format))
    if core.info.videoFormat == nil { core.tell(.started) }
    core.noteIfEmpty(.audio)
    var stretcher = SoundStretcher()
    while true {
      switch core.monitor.wait(seat: run, { $0.nextAudio(run: run, $1) }) {
      case .stop: return
      case .sound(let piece):
        core.notePass(reached: piece.time)
        let speed = core.monitor.read { state, _ in state.clock.speed }
        for stretched in stretcher.stretch(piece, by: speed) { hand(stretched) }
      case .packet(let packet, let time, let passthrough, let target):
        core.notePass(reached: packet.time)
        guard core.monitor.read({ state, _ in !state.isMuted }) else { continue }
        if let frame = passthrough.frame(of: packet, captureTime: time) { target.consume(frame) }
      case .end(let reason):
        core.noteIfEmpty(.audio)
        core.noteEnded(.audio, run: run, thread)
        return consumer.audioCaptureDidEnd(reason)
      }
    }
  }

  private func hand(_ piece: SoundPiece) {
    let (due, isMuted) = core.monitor.read { state, now in (state.clock.due(piece.time) ?? now, state.isMuted) }
    let samples = isMuted ? Array(repeating: 0, count: piece.samples.count) : piece.samples
    consumer.consume(AudioFrame(format: piece.format, samples: samples, captureTime: due))
  }
}

extension PlaybackCore {
  /// Tells once when nothing of a track can be played.
  func noteIfEmpty(_ kind: PlayerState.Kind) {
    guard monitor.note({ state, _ in state.findsNothing(kind) }) else { return }
    tell(
      .leftOut(
        kind == .video
          ? "The pictures of \(info.path) cannot be decoded; its sound is played alone."
          : "The sound of \(info.path) cannot be decoded; its pictures are played alone."))
  }

  /// Tells of a new pass when its first picture or sound is delivered.
  func notePass(reached media: TimeDelta) {
    let number = monitor.read { state, _ in
      state.passes.count > 1 && state.passes[1].start <= media ? state.passes[1].number : nil
    }
    guard let number else { return }
    let isFirst = monitor.change { state, _ in
      guard state.passes.count > 1, state.passes[1].number == number else { return false }
      state.passes.removeFirst()
      return true
    }
    if isFirst { tell(.looped(number)) }
  }
}
