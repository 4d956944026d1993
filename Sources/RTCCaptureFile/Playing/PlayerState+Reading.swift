internal import RTCPrimitives

/// The next step of the reader thread.
enum ReaderJob {
  case exit
  case seek(TimeDelta)
  case read
  case decodePicture(PacketLog.Work)
  case decodeSound(PacketLog.Work)
}

extension PlayerState {
  /// Pictures that wait decoded: enough to bridge one slow picture, few because each may be megabytes.
  private static let pictureLimit = 3
  /// Sound that waits decoded, at the file's own speed.
  private static let soundLimit = TimeDelta.milliseconds(300)
  /// How far packets are read ahead while they are passed on: whether a key frame is near is asked.
  private static let tapLead = TimeDelta.seconds(3)
  /// Less sound than this that waits decoded is too little.
  private static let soundReserve = TimeDelta.milliseconds(100)
  /// Pictures are not decoded that are later than this, where a key frame allows to leave them out.
  private static let lateBound = TimeDelta.seconds(1)
  /// How far ahead of the clock a key frame is looked for.
  private static let keyFrameReach = TimeDelta.seconds(10)

  mutating func nextJob(_ now: Timestamp) -> Wait<ReaderJob> {
    guard isWanted else { return .ready(.exit) }
    if case .wanted(let target) = seek {
      seek = .underway
      return .ready(.seek(target))
    }
    settle(now)
    let media = clock.media(at: now)
    letGo(media)
    // Sound first: it costs little, and is heard when it is missing.
    let wantsSound = decodesSound && soundAhead < Self.soundLimit * Int64(max(1, clock.speed))
    if wantsSound, let work = audio.log.nextToDecode() {
      audio.isDecoding = true
      return .ready(.decodeSound(work))
    }
    if let job = catchUp(media) { return .ready(job) }
    if wantsSound, isSoundStarving(media) { return .ready(.read) }
    let wantsPicture = decodesPictures && pictures.count < Self.pictureLimit
    if wantsPicture, let work = video.log.nextToDecode() {
      video.isDecoding = true
      return .ready(.decodePicture(work))
    }
    guard ending == nil else { return .until(nil) }
    let lead = video.log.isTapped || audio.log.isTapped ? Self.tapLead : .zero
    guard wantsPicture || wantsSound || frontier <= media + lead else {
      // Later than now even where the clock's rounding says otherwise.
      return .until(clock.due(frontier - lead).map { max($0, now + .microseconds(1)) })
    }
    guard hasRoom else {
      return .until(now + .milliseconds(100))
    }
    return .ready(.read)
  }

  private mutating func letGo(_ media: TimeDelta) {
    if !decodesPictures { video.log.skipDecoding(to: media) }
    if !decodesSound { audio.log.skipDecoding(to: media) }
    video.log.trim(to: media, limit: Self.byteLimit / 2)
    audio.log.trim(to: media, limit: Self.byteLimit / 4)
  }

  private var soundAhead: TimeDelta { sounds.reduce(.zero) { $0 + $1.duration } }
  private var hasRoom: Bool { video.log.byteCount + audio.log.byteCount < Self.byteLimit }
  private var mayRead: Bool { ending == nil && hasRoom }

  // MARK: - Overload

  /// Sound that is needed soon was not read yet, because pictures that stand before it in the file take long.
  private func isSoundStarving(_ media: TimeDelta) -> Bool {
    clock.isRunning && mayRead && soundAhead < Self.soundReserve && frontier < media + Self.lateBound
  }

  /// Decoding that fell behind goes on at a key frame: the newest that is due, else the next. To find it, the file is read
  /// on; where none comes soon, what is late is decoded and shown late. Nil when there is nothing to read for that.
  private mutating func catchUp(_ media: TimeDelta) -> ReaderJob? {
    guard decodesPictures, clock.isRunning, pictures.last.map({ $0.time <= media }) ?? true,
      let next = video.log.isExhausted ? frontier : video.log.nextDecodeTime,
      media - max(next, video.floor) > Self.lateBound
    else { return nil }
    if mayRead, frontier <= media { return .read }
    if let skipped = video.log.skipToKeyFrame(from: media - Self.lateBound, to: media) {
      droppedPictures += skipped + pictures.count
      pictures.removeAll()
      // What was sent before tells nothing of whether the rest can be decoded.
      video.sent = 0
      video.made = 0
      return nil
    }
    return mayRead && frontier < media + Self.keyFrameReach ? .read : nil
  }

  // MARK: - What the reader found

  mutating func append(_ packet: DemuxedPacket, isPicture: Bool) {
    if isPicture { video.log.append(.packet(packet)) } else { audio.log.append(.packet(packet)) }
    frontier = max(frontier, packet.decodeTime)
  }

  /// The file goes on from its beginning, `end` being the end of this pass and the start of the next.
  mutating func appendLoop(at end: TimeDelta, position: TimeDelta) {
    video.log.append(.boundary(floor: end, isLast: false))
    audio.log.append(.boundary(floor: end, isLast: false))
    passes.append(Pass(start: end, position: position, number: passes[passes.count - 1].number + 1))
    indexedKeyFrame = nil
  }

  mutating func appendEnd(_ ending: Ending) {
    video.log.append(.boundary(floor: .zero, isLast: true))
    audio.log.append(.boundary(floor: .zero, isLast: true))
    self.ending = ending
  }

  /// A pass was read. False when nothing at all came of the last one: such a file would go round for ever.
  mutating func noteEndOfPass() -> Bool {
    let total = video.total + audio.total
    defer { totalAtPassEnd = total }
    // What the decoders hold back comes out at the end of the pass, and counts in the next.
    guard let totalAtPassEnd else { return true }
    // While nobody watches, nothing is decoded.
    let isResting = video.run != nil && !video.isDead && !isDecodingWanted
    let isUnderway = !pictures.isEmpty || !sounds.isEmpty || video.log.isTapped || audio.log.isTapped || isResting
    let isUndecoded = (decodesPictures && !video.log.isExhausted) || (decodesSound && !audio.log.isExhausted)
    return total > totalAtPassEnd || isUnderway || isUndecoded
  }

  /// The decoder gave out all of a pass.
  static func finishPass(_ track: inout Track, floor: TimeDelta) {
    if track.sent > 0 && track.made == 0 { track.isDead = true }
    track.sent = 0
    track.made = 0
    track.floor = max(track.floor, floor)
  }
}
