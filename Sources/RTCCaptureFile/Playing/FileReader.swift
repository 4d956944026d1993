internal import RTCMedia
internal import RTCPrimitives

/// The reader thread's work: demuxes and decodes ahead of the clock, as much as the deliveries want.
final class FileReader {
  private let core: PlaybackCore
  private let seat: Int
  private let media: any FileMedia
  private let contents: FileContents
  /// Nothing was read of the file yet.
  private var isFresh = true
  private var timing: PacketTiming
  private var pass = PassCount()
  private let pictures: PictureReading
  private let sound: SoundReading
  /// The position at which reading goes on after the file's process was lost.
  private var resumption: TimeDelta?
  /// The rewriter that finds where viewers can begin; nil where nothing is passed on.
  private var rewriter: PictureRewriter?
  /// Key frames of the container are entry points, as far as it was read.
  private var indexIsTrue = true

  /// The contents of one pass through the file so far.
  private struct PassCount {
    var start: Int64 = 0
    var beginsAtStart = true
    var pictures = 0
    var sounds = 0
  }

  /// Creates a reader.
  ///
  /// - Parameter media: a file of which nothing was read yet.
  init(core: PlaybackCore, seat: Int, media: any FileMedia) {
    self.core = core
    self.seat = seat
    self.media = media
    contents = media.contents
    timing = PacketTiming(fileTime: media.start ?? 0, media: 0, fileEnd: nil, mayLeap: contents.mayLeap)
    pictures = PictureReading(core: core, seat: seat, media: media)
    sound = SoundReading(core: core, media: media)
    if core.info.encodedFormat != nil { rewriter = contents.video.flatMap { try? PictureRewriter($0.description) } }
  }

  /// Reads the file until no one needs it any more.
  func run(noteEnded: () -> Void) {
    prepare()
    while true {
      let job = core.monitor.wait(seat: seat) { state, now in
        let job = state.nextJob(now)
        if case .ready(.exit) = job {
          // Within the lock: whoever starts next finds no reader and makes one.
          state.readerRun = nil
          state.releaseSeekWaiters()
          noteEnded()
        }
        return job
      }
      do throws(FileLoss) { guard try perform(job) else { return } } catch { recover(from: error, during: job) }
    }
  }

  /// Performs a job. False when no consumer wants the file any more.
  private func perform(_ job: ReaderJob) throws(FileLoss) -> Bool {
    switch job {
    case .exit: return false
    case .seek(let position): try seek(to: position)
    case .read: try read()
    case .decodePicture(let work):
      try pictures.decode(work)
      noteDecoded()
    case .decodeSound(let work):
      try sound.decode(work)
      noteDecoded()
    }
    return true
  }

  private func prepare() {
    do throws(FileLoss) {
      let decoders = try media.prepare(
        sendsPictures: core.info.encodedFormat != nil, sendsSound: core.info.isOpus, counters: core.counters)
      core.monitor.change { state, _ in
        if !decoders.decodesPictures { state.video.isDead = true }
        if !decoders.decodesSound { state.audio.isDead = true }
      }
    } catch {
      recover(from: error, during: .seek(core.options.start))
    }
  }

  private func noteDecoded() {
    let isEnding = core.monitor.note { state, _ in
      state.video.isDecoding = false
      state.audio.isDecoding = false
      return state.ending != nil
    }
    // A delivery that looked while the last was being decoded waits to hear that it is done.
    if isEnding { core.monitor.change { _, _ in } }
  }

  /// Goes on where the file was, in another process; without one, the file ends here.
  private func recover(from loss: FileLoss, during job: ReaderJob) {
    do throws(FileLoss) {
      try media.recover(from: loss)
      isFresh = true
      resumption = core.monitor.change { state, now in
        state.video.isDecoding = false
        state.audio.isDecoding = false
        // Somebody may want to go elsewhere meanwhile.
        if case .wanted = state.seek { return nil }
        if case .seek(let position) = job {
          state.seek = .wanted(position)
          return nil
        }
        let position = max(.zero, state.position(at: now))
        // Packets get the same times again, so that the tap finds the one after its last.
        state.clock.stop(at: now)
        state.seek = .wanted(position)
        return position
      }
    } catch {
      core.monitor.change { state, now in
        state.video.isDecoding = false
        state.audio.isDecoding = false
        state.beginPlace(at: state.position(at: now), now)
        state.appendEnd(.lost(error.sentence))
        // Where somebody waits to go elsewhere, there is nothing.
        state.seek = .none
        state.releaseSeekWaiters()
      }
    }
  }

  // MARK: - Reading

  private func read() throws(FileLoss) {
    switch try media.read() {
    case .packet(let packet): take(packet)
    case .end: try endPass(lost: nil)
    case .failure(let failure):
      try endPass(lost: "\(core.info.path) could not be read further: \(failure.sentence)")
    }
  }

  private func take(_ packet: FilePacket, startsAfterJump: Bool = false) {
    let isPicture = packet.isPicture
    if pass.pictures + pass.sounds == 0, media.start == nil, let first = packet.pts ?? packet.dts {
      timing = PacketTiming(fileTime: first, media: pass.start, fileEnd: nil, mayLeap: contents.mayLeap)
    }
    if isPicture { pass.pictures += 1 } else { pass.sounds += 1 }
    let frameDuration = (isPicture ? contents.video : contents.audio)?.frameDuration ?? .zero
    let place = timing.place(
      stream: isPicture ? 0 : 1, pts: packet.pts, dts: packet.dts,
      duration: packet.duration > 0 ? packet.duration : frameDuration.nanoseconds, cut: packet.cut)
    // From here on the packet is on the media timeline; the decoder gives its frames the packets' times.
    let payload = packet.payload
    payload.setStamp(
      PacketStamp(pts: place.presentation, dts: packet.dts.map { $0 + place.offset }, duration: packet.duration))
    let demuxed = DemuxedPacket(
      payload: payload, isKeyFrame: packet.isKeyFrame,
      isEntryPoint: packet.isKeyFrame && (!isPicture || isEntryPoint(payload)),
      time: TimeDelta(nanoseconds: place.time), decodeTime: TimeDelta(nanoseconds: place.decodeTime),
      duration: TimeDelta(nanoseconds: packet.duration), startsAfterJump: startsAfterJump)
    let indexed = isPicture ? indexedKeyFrame(packet, place.offset) : nil
    core.monitor.change { state, _ in
      state.append(demuxed, isPicture: isPicture)
      if isPicture { state.indexedKeyFrame = indexed }
    }
  }

  /// - Parameter payload: of a picture that the container has for a key frame.
  private func isEntryPoint(_ payload: PacketPayload) -> Bool {
    guard var rewriter else { return true }
    if let extradata = payload.newExtradata {
      rewriter.replaceHeaders(extradata)
      self.rewriter = rewriter
    }
    let isEntryPoint = rewriter.isEntryPoint(payload.bytes)
    indexIsTrue = indexIsTrue && isEntryPoint
    return isEntryPoint
  }

  /// Only asked of streams that may be passed on.
  private func indexedKeyFrame(_ packet: FilePacket, _ offset: Int64) -> TimeDelta? {
    guard core.info.encodedFormat != nil, indexIsTrue else { return nil }
    return packet.nextKeyFrame.map { TimeDelta(nanoseconds: $0) + TimeDelta(nanoseconds: offset) }
  }

  // MARK: - The end and the next pass

  private func endPass(lost: String?) throws(FileLoss) {
    let end = timing.end
    let isOnePicture = pass.beginsAtStart && pass.pictures == 1 && pass.sounds == 0
    let isLooped = core.options.isLooped && !isOnePicture && end - pass.start > 1_000_000
    // Asked at every end: it compares one with the next.
    let isFruitful = core.monitor.note { state, _ in state.noteEndOfPass() }
    if isLooped, isFruitful, lost == nil, try rewindForLoop(at: end) { return }
    core.monitor.change { state, _ in
      state.appendEnd(
        lost.map { .lost($0) } ?? (isOnePicture ? .held : .at(TimeDelta(nanoseconds: end))))
    }
  }

  private func rewindForLoop(at end: Int64) throws(FileLoss) -> Bool {
    let start = core.options.start
    guard let place = try place(start, isRewind: true) else { return false }
    core.monitor.change { state, _ in state.appendLoop(at: TimeDelta(nanoseconds: end), position: place.position) }
    begin(place, media: end, startsAfterJump: false)
    return true
  }

  private func beginPass(fileTime: Int64, media: Int64, isStart: Bool) {
    // Longer by more than this than the container says: a mistake in one packet.
    let fileEnd = contents.duration.map { ($0 + .seconds(30)).nanoseconds + (self.media.start ?? 0) }
    timing = PacketTiming(fileTime: fileTime, media: media, fileEnd: fileEnd, mayLeap: contents.mayLeap)
    pass = PassCount(start: media, beginsAtStart: isStart)
    isFresh = false
  }

  private func fileTime(_ position: TimeDelta) -> Int64 {
    (media.start ?? 0) + max(0, min(PacketTiming.latestTime, position.nanoseconds))
  }

  // MARK: - Seeking

  /// A place in the file where reading goes on.
  private struct Place {
    var position: TimeDelta
    /// The packets that were already read to find the key frame before the position.
    var packets: [FilePacket] = []
    /// The time of that key frame in the file.
    var keyFrame: Int64?
  }

  private func seek(to position: TimeDelta) throws(FileLoss) {
    let target = max(.zero, min(position, contents.duration ?? position))
    let isFirst = isFresh && target == .zero
    let isResumed = resumption == position
    resumption = nil
    let found = isFirst ? nil : try isResumed ? search(target) : place(target, isRewind: false)
    let place = found ?? Place(position: target)
    try media.reset(.video)
    try media.reset(.audio)
    let beginning = core.monitor.change { state, now in
      state.beginPlace(at: place.position, resumesTaps: isResumed, now)
      return state.clock.media(at: now)
    }
    begin(place, media: beginning.nanoseconds, startsAfterJump: true)
  }

  private func begin(_ place: Place, media: Int64, startsAfterJump: Bool) {
    beginPass(fileTime: fileTime(place.position), media: media, isStart: place.position == .zero)
    var startsAfterJump = startsAfterJump
    for packet in place.packets {
      take(packet, startsAfterJump: startsAfterJump)
      startsAfterJump = false
    }
  }

  /// Goes to the key frame at or before `target`; nil when the file cannot be moved in any way.
  private func place(_ target: TimeDelta, isRewind: Bool) throws(FileLoss) -> Place? {
    if target == .zero, isRewind { return try media.rewind() ? Place(position: .zero) : nil }
    guard var place = try search(target) else { return nil }
    // Packets can only be passed on from a key frame: the place is moved to it.
    let isTapped = core.monitor.read { state, _ in state.video.log.isTapped }
    if isTapped, let keyFrame = place.keyFrame {
      place.position = max(.zero, TimeDelta(nanoseconds: keyFrame - fileTime(.zero)))
    }
    return place
  }

  private func search(_ target: TimeDelta) throws(FileLoss) -> Place? {
    let wanted = fileTime(target)
    // Some containers land too late: then from further ahead.
    for back in [0, 2_000_000_000, 10_000_000_000] as [Int64] where target.nanoseconds > back {
      guard try media.seek(to: wanted - back) else { break }
      let (packets, first) = try readToKeyFrame()
      if let first, first <= wanted { return Place(position: target, packets: packets, keyFrame: first) }
    }
    guard try media.rewind() else { return nil }
    let (packets, first) = try readToKeyFrame()
    return Place(position: target, packets: packets, keyFrame: first)
  }

  private func readToKeyFrame() throws(FileLoss) -> ([FilePacket], Int64?) {
    var packets: [FilePacket] = []
    while packets.count < 2000, case .packet(let packet) = try media.read() {
      packets.append(packet)
      let isMain = packet.isPicture || contents.video == nil
      if isMain, packet.isKeyFrame { return (packets, packet.pts ?? packet.dts) }
    }
    return (packets, nil)
  }
}
