internal import RTCMedia
internal import RTCPrimitives

/// The next step of the thread that delivers pictures.
enum VideoStep {
  /// Delivery ends: the consumer is not called any more.
  case stop
  /// A picture with its damage: nil means all of it, empty means none.
  case picture(PictureItem, at: Timestamp, damage: [PixelRect]?)
  case packet(DemuxedPacket, at: Timestamp, any VideoPassthrough, any EncodedVideoConsumer)
  /// A picture came too late and was left out.
  case dropped
  case end(CaptureEnd)
}

/// The next step of the thread that delivers sound.
enum AudioStep {
  case stop
  case sound(SoundPiece)
  case packet(DemuxedPacket, at: Timestamp, any AudioPassthrough, any EncodedAudioConsumer)
  case end(CaptureEnd)
}

extension PlayerState {
  /// Pictures later than this are left out, unless their consumer waited as long for one.
  private static let lateLimit = TimeDelta.milliseconds(250)
  /// The interval at which a still picture is shown again, for viewers that join.
  private static let heldInterval = TimeDelta.seconds(1)
  /// The time that the stretcher looks ahead: sound passes through it at speeds other than 1.
  static let stretchLead = TimeDelta.milliseconds(80)

  // MARK: - Beginning

  /// Whether the track may be started; until the first picture is there nobody knows. One of which nothing comes is, and stays
  /// empty, where the other is there: it is played alone.
  mutating func videoStart(run: Int, _ now: Timestamp) -> Wait<Bool?> {
    guard video.run == run else { return .ready(nil) }
    settle(now)
    guard !isSeeking else { return .until(nil) }
    if !pictures.isEmpty || !isDecodingWanted { return .ready(true) }
    return isFinished(.video) ? .ready(video.total > 0 || isStarted(.audio)) : .until(nil)
  }

  private func isStarted(_ kind: Kind) -> Bool { self[kind].run != nil && self[kind].total > 0 }

  /// As far as is known.
  private var hasPictures: Bool { isTwofold && !video.isDead }

  mutating func audioStart(run: Int, _ now: Timestamp) -> Wait<Bool?> {
    guard audio.run == run else { return .ready(nil) }
    settle(now)
    guard !isSeeking else { return .until(nil) }
    if !sounds.isEmpty || audio.log.isTapped { return .ready(true) }
    if isFinished(.audio) { return .ready(audio.total > 0 || hasPictures) }
    // A long file may have no sound anywhere near: the pictures do not wait for it.
    if hasPictures, case .playing = motion { return .ready(true) }
    return .until(nil)
  }

  // MARK: - Pictures

  /// - Parameters:
  ///   - last: no picture may have an earlier time.
  ///   - freeSince: since when the consumer waits for one.
  mutating func nextVideo(
    run: Int, last: Timestamp, freeSince: Timestamp, _ now: Timestamp
  ) -> Wait<VideoStep> {
    guard video.run == run else { return .ready(.stop) }
    settle(now)
    guard !isSeeking else { return .until(nil) }
    if owesPicture, let item = pictures.first, item.time <= clock.media(at: now) {
      owesPicture = false
      pictures.removeFirst()
      lastPicture = item
      return .ready(.picture(item, at: max(now, last), damage: nil))
    }
    let packet = video.log.nextToTap()
    let packetDue = packet.flatMap { clock.due($0.decodeTime) }
    let pictureDue = pictures.first.flatMap { clock.due($0.time) }
    if let packet, let packetDue, packetDue <= now, packetDue <= pictureDue ?? .distantFuture,
      let videoTap, let videoPassthrough
    {
      video.log.noteTapped()
      video.passed += 1
      return .ready(.packet(packet, at: clock.due(packet.time) ?? packetDue, videoPassthrough, videoTap))
    }
    if let pictureDue {
      return pictureDue <= now
        ? duePicture(last, freeSince, now) : .until(min(pictureDue, packetDue ?? .distantFuture))
    }
    return videoAtRest(packetDue, last, now)
  }

  /// The newest of the pictures that are due; those before it came too late.
  private mutating func duePicture(
    _ last: Timestamp, _ freeSince: Timestamp, _ now: Timestamp
  ) -> Wait<VideoStep> {
    while pictures.count > 1, let next = clock.due(pictures[1].time), next <= now { dropPicture() }
    let item = pictures[0]
    let due = clock.due(item.time) ?? now
    if now - due > Self.lateLimit, now - freeSince <= Self.lateLimit {
      dropPicture()
      // The reader must see that there is room again: the place is looked at anew when it found the next.
      return .ready(.dropped)
    }
    lateness = max(.zero, now - due)
    pictures.removeFirst()
    lastPicture = item
    return .ready(.picture(item, at: max(due, last), damage: nil))
  }

  private mutating func dropPicture() {
    pictures.removeFirst()
    droppedPictures += 1
  }

  /// No picture waits: it is the end, a still picture, or the decoder is not there yet.
  private mutating func videoAtRest(_ packetDue: Timestamp?, _ last: Timestamp, _ now: Timestamp) -> Wait<VideoStep> {
    guard isFinished(.video) else { return .until(packetDue) }
    switch ending {
    case .held:
      guard var item = lastPicture else { return .until(packetDue) }
      guard let due = clock.due(item.time + Self.heldInterval), due <= now else {
        return .until(clock.due(item.time + Self.heldInterval))
      }
      item.time = item.time + Self.heldInterval
      lastPicture = item
      return .ready(.picture(item, at: max(due, last), damage: []))
    case .at(let end): return atEnd(end, packetDue, now) { .end($0) }
    case .lost(let sentence): return atEnd(frontier, packetDue, now) { _ in .end(.lost(sentence)) }
    case nil: return .until(packetDue)
    }
  }

  private func atEnd<Step>(
    _ end: TimeDelta, _ packetDue: Timestamp?, _ now: Timestamp, _ step: (CaptureEnd) -> Step
  ) -> Wait<Step> {
    guard let due = clock.due(end) else { return .until(nil) }
    if due <= now { return .ready(step(.finished)) }
    return .until(min(due, packetDue ?? .distantFuture))
  }

  // MARK: - Sound

  mutating func nextAudio(run: Int, _ now: Timestamp) -> Wait<AudioStep> {
    guard audio.run == run else { return .ready(.stop) }
    settle(now)
    guard !isSeeking else { return .until(nil) }
    let packet = audio.log.nextToTap()
    let packetDue = packet.flatMap { clock.due($0.time) }
    if let packet, let packetDue, packetDue <= now, let audioTap, let audioPassthrough {
      audio.log.noteTapped()
      audio.passed += 1
      return .ready(.packet(packet, at: packetDue, audioPassthrough, audioTap))
    }
    let lead = clock.speed == 1 ? TimeDelta.zero : Self.stretchLead
    if let piece = sounds.first {
      guard let due = clock.due(piece.time - lead) else { return .until(nil) }
      guard due <= now else { return .until(min(due, packetDue ?? .distantFuture)) }
      return .ready(.sound(takeSound()))
    }
    guard isFinished(.audio) else { return .until(packetDue) }
    switch ending {
    case .at(let end): return atEnd(end, packetDue, now) { .end($0) }
    case .lost(let sentence): return atEnd(frontier, packetDue, now) { _ in .end(.lost(sentence)) }
    case .held, nil: return .until(packetDue)
    }
  }

  /// At most 20 ms of the first piece, which is shared out evenly.
  private mutating func takeSound() -> SoundPiece {
    let first = sounds[0]
    let longest = max(1, first.format.sampleRate / 50)
    let parts = (first.sampleCount + longest - 1) / longest
    let count = first.sampleCount / parts
    guard count < first.sampleCount else { return sounds.removeFirst() }
    sounds[0].removeFirst(count)
    return SoundPiece(
      format: first.format, samples: Array(first.samples[..<(count * first.format.channels)]), time: first.time)
  }
}
