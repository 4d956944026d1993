import RTCMedia
import RTCPeer
import RTCPrimitives

/// One pass of the encoders, on the thread that has taken them out of the state.
extension OutgoingVideo {
  /// While exact pixels are to go first, refinement is tried this often. So short a queue costs changes nothing.
  private static let yieldInterval = TimeDelta.milliseconds(20)
  /// The share of the rate that changes may take while exact pixels wait: a film in a corner must not block these.
  private static let yieldShare = 0.65

  /// The result of one encoder in a pass.
  private struct Work {
    var time = TimeDelta.zero
    var end: Timestamp
    var hasPicture = false
    /// When it has something to do next.
    var deadline: Timestamp?
  }

  /// Encodes for the main rung first; the others follow when the main rung's frame was sent.
  /// - Returns: the time of the next work, if nothing happens before.
  func encode(_ pass: EncodingPass) -> Timestamp? {
    let encoders = pass.encoders
    encoders.apply(pass.decoding, released: pass.released)
    guard pass.isOpen else { return nil }
    var pass = pass
    let upright = pass.picture.map { encoders.turner.upright($0.frame) }
    let answer = exact?.begin(
      upright, finding: &encoders.changes, isEncoded: pass.controls.contains(where: \.isActive),
      isMovement: encoders.heldBack.isMovement(MonotonicClock.now()), viewers: pass.viewers.count)
    if pass.hasLostSource { encoders.heldBack.clear() }
    // A source of encoded pictures, and a recording, have no exact pixels.
    let isNeeded =
      pass.isRecorded || pass.isNewSource || pass.decoding != nil
      || pass.controls.contains { $0.isActive && ($0.wantsKeyFrame || $0.awaitsHandover) }
      || pass.controls.indices.contains { encoders[$0].stage.isKeyFramePending }
    let (picture, heldUntil) = encoders.heldBack.take(
      answer.map(\.picture) ?? upright, following: answer?.following ?? .none, isNeeded: isNeeded,
      now: MonotonicClock.now())
    let mainIndex = encoders.setMain(pass.rungs)
    encoders[mainIndex].stage.noteReplaced(pass.picture?.replaced ?? 0)
    encoders[mainIndex].stage.noteHeld(encoders.heldBack.takeReplaced())
    if let heldUntil { return heldUntil }
    if pass.picture == nil, let picture { pass.picture = (picture, 0) }
    pass.yieldsRate = answer?.yieldsRate == true && !pass.isRecorded
    choose(pass)
    let main = encode(pass, by: mainIndex) { _ in picture.map { ($0, false) } }
    if main.hasPicture, pass.controls[mainIndex].isActive { encoders.selection?.chooser.note(main.time) }
    var deadlines = [main.deadline]
    deadlines += encodeSides(pass, after: main)
    deadlines += encoders.spares.map { encodeShared(pass, by: $0, after: main).deadline }
    deadlines.append(encoders.selection?.chooser.deadline)
    return deadlines.lazy.compactMap(\.self).min()
  }

  /// Encodes the main rung's picture for the side rungs, and notes whether that keeps up with the source.
  /// - Returns: the times of their next work, if nothing happens before.
  private func encodeSides(_ pass: EncodingPass, after main: Work) -> [Timestamp?] {
    let encoders = pass.encoders
    var (deadlines, side): ([Timestamp?], Work?) = ([], nil)
    var interval = TimeDelta.zero
    for index in encoders.indices(of: pass.rungs.sides) {
      let work = encodeShared(pass, by: index, after: main)
      deadlines.append(work.deadline)
      guard pass.controls[index].isActive else { continue }
      let before = side ?? Work(end: main.end)
      side = Work(time: before.time + work.time, end: work.end, hasPicture: before.hasPicture || work.hasPicture)
      interval = pass.interval(of: index)
    }
    guard let side else {
      encoders.load.rest()
      return deadlines
    }
    if pass.picture != nil {
      encoders.load.note(main: main.time, side: side.hasPicture ? side.time : nil, interval: interval, now: side.end)
    }
    return deadlines
  }

  /// Encodes the main rung's picture with another encoder, if that has viewers.
  private func encodeShared(_ pass: EncodingPass, by index: Int, after main: Work) -> Work {
    let (encoders, isNew) = (pass.encoders, pass.picture != nil)
    let encoder = encoders[index]
    guard pass.controls[index].isActive else {
      encoder.stage.apply(pass.controls[index])
      return Work(end: main.end, deadline: encoder.rest(main.end, isNew: isNew))
    }
    encoder.share(from: encoders[encoders.index(of: pass.rungs.main)].stage, isNew: isNew, now: main.end)
    let spacing = encoders.load.isHalved ? pass.interval(of: index) * 3 / 2 : nil
    var work = encode(pass, by: index) { encoder.takeShared(now: $0, spacing: spacing).map { ($0, true) } }
    work.deadline = [work.deadline, encoder.sharedTime(spacing: spacing)].compactMap(\.self).min()
    return work
  }

  /// Switches the main rung to the best codec. Not while recording, which keeps its codec, or while the source's own
  /// frames are passed through, which leaves little to gain.
  private func choose(_ pass: EncodingPass) {
    let encoders = pass.encoders
    guard let selection = encoders.selection, pass.mayChoose else { return }
    let mainIndex = encoders.index(of: pass.rungs.main)
    let main = encoders[mainIndex]
    let index = encoders.choose(
      for: main, pass.viewers, pass.controls[mainIndex], newest: pass.picture?.frame, now: MonotonicClock.now())
    let chosen = selection.formats[index]
    guard chosen.format != pass.formats[mainIndex] else { return }
    let isFiner = chosen.chroma == .full && main.stage.chroma != .full
    guard pass.picture != nil || !isFiner || !main.stage.isPrepared else { return }
    main.stage.recode(chroma: chosen.chroma, by: chosen.makeEncoder)
    let (fallback, sides) = (selection.fallback, encoders.indices(of: pass.rungs.sides))
    for side in sides where pass.formats[side] != fallback.format {
      encoders[side].stage.recode(chroma: fallback.chroma, by: fallback.makeEncoder)
    }
    state.withLock { state in
      for side in sides { state.formats[side] = fallback.format }
      state.formats[mainIndex] = chosen.format
    }
    // Before the frames that this thread sends from now on.
    offerEncoders()
    report(.codecChanged(chosen.format, viewers: pass.viewers.count))
  }

  /// - Parameter picture: the picture to encode, and whether it belongs to another encoder; nil: encode what is due.
  private func encode(
    _ pass: EncodingPass, by index: Int, _ picture: (Timestamp) -> (frame: VideoFrame, isShared: Bool)?
  ) -> Work {
    let (encoders, encoder) = (pass.encoders, pass.encoders[index])
    let start = MonotonicClock.now()
    var controls = pass.controls[index]
    controls.expect(pass.forecast, now: start)
    // Exact pixels on their way are a queue that refinement waits for, and changes do not.
    if pass.yieldsRate {
      controls.drained = max(controls.drained, start + Self.yieldInterval)
      controls.bitrate = controls.bitrate.scaled(by: Self.yieldShare)
    }
    encoder.stage.apply(controls)
    if pass.isNewSource { encoder.stage.sourceChanged() }
    encoder.stage.follow(encoders.newestCapture)
    var work = Work(end: start)
    var frame: EncodedFrame?
    if let (picture, isShared) = picture(start) {
      encoder.stage.take(picture, isShared: isShared, now: start)
      let converted = MonotonicClock.now()
      frame = encoder.stage.encode(now: converted)
      work = Work(end: MonotonicClock.now(), hasPicture: true)
      encoder.stage.noteWork(converting: converted - start, encoding: work.end - converted)
    } else {
      frame = encoder.stage.serve(now: start)
      if frame != nil {
        work.end = MonotonicClock.now()
        encoder.stage.noteWork(encoding: work.end - start)
      }
    }
    work.time = work.end - start
    frame?.encodedTime = work.end
    encoders.newestCapture = encoder.stage.newestCapture
    send(frame, of: index, encoder.stage.statistics)
    let isMain = encoder.rendition == pass.rungs.main
    for event in encoder.stage.takeEvents() { tell(event, isMain: isMain) }
    work.deadline = encoder.stage.nextDeadline(now: work.end)
    return work
  }

  private func send(_ frame: EncodedFrame?, of index: Int, _ statistics: EncodingStatistics) {
    // First, so that the receiver of a frame finds it counted.
    let isRecorded = state.withLock { $0.note(statistics, of: index, isKeyFrame: frame?.isKeyFrame ?? false) }
    guard let frame else { return }
    exact?.send(frame)
    track.send(frame)
    if isRecorded { sinks.send(frame) }
  }

  private func tell(_ event: EncoderEvent, isMain: Bool) {
    switch event {
    case .sizeChanged(let size): if isMain { report(.formatChanged(size)) }
    case .limited(let limitation): if isMain { report(.qualityLimited(limitation)) }
    case .encoderFailed(.noUsableEncoder(let codec, let causes)):
      report(
        .encoderFailed(
          "No encoder of \(codec.rawValue) can be used: \(causes.joined(separator: "; ")). "
            + "Remove one of these causes, or choose another codec."))
    case .encoderFailed(let error): report(.encoderFailed("The encoder refused a frame: \(error)."))
    case .pictureUnreadable(let error): report(.encoderFailed(error.description))
    case .conversionFailed(let status):
      report(.encoderFailed("A frame could not be converted (libyuv status \(status))."))
    }
  }
}
