internal import RTCPrimitives

/// What the reader thread does next.
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

  mutating func nextJob(_ now: Timestamp) -> Wait<ReaderJob> {
    guard isWanted else { return .ready(.exit) }
    if case .wanted(let target) = seek {
      seek = .underway
      return .ready(.seek(target))
    }
    settle(now)
    let media = clock.media(at: now)
    letGo(media)
    let wantsPicture = decodesPictures && pictures.count < Self.pictureLimit
    if wantsPicture, let work = video.log.nextToDecode() {
      video.isDecoding = true
      return .ready(.decodePicture(work))
    }
    let wantsSound = decodesSound && soundAhead(of: media) < Self.soundLimit * Int64(max(1, clock.speed))
    if wantsSound, let work = audio.log.nextToDecode() {
      audio.isDecoding = true
      return .ready(.decodeSound(work))
    }
    guard ending == nil else { return .until(nil) }
    let lead = video.log.isTapped || audio.log.isTapped ? Self.tapLead : .zero
    guard wantsPicture || wantsSound || frontier <= media + lead else {
      // Later than now even where the clock's rounding says otherwise.
      return .until(clock.due(frontier - lead).map { max($0, now + .microseconds(1)) })
    }
    guard video.log.byteCount + audio.log.byteCount < Self.byteLimit else {
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

  private func soundAhead(of media: TimeDelta) -> TimeDelta {
    sounds.reduce(.zero) { $0 + $1.duration }
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

  /// The decoder gave out all of a pass.
  static func finishPass(_ track: inout Track, floor: TimeDelta) {
    if track.sent > 0 && track.made == 0 { track.isDead = true }
    track.sent = 0
    track.made = 0
    track.floor = max(track.floor, floor)
  }
}
