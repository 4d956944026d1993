internal import CFFmpeg
internal import RTCMedia
internal import RTCPrimitives

/// The reader thread's work: demuxes and decodes ahead of the clock, as much as the deliveries want.
final class FileReader {
  private let core: PlaybackCore
  private let seat: Int
  private var file: MediaFile
  private var isFresh: Bool
  private var timing: PacketTiming
  private var pass = PassCount()
  private var pictures: PictureReading?
  private var sound: SoundReading?
  /// Tells where viewers can begin; nil where nothing is passed on.
  private var rewriter: PictureRewriter?
  /// Key frames of the container are entry points, as far as it was read.
  private var indexIsTrue = true

  /// What one pass through the file held so far.
  private struct PassCount {
    var start: Int64 = 0
    var beginsAtStart = true
    var pictures = 0
    var sounds = 0
  }

  /// - Parameter isFresh: nothing was read of the file yet.
  init(core: PlaybackCore, seat: Int, file: MediaFile, isFresh: Bool) {
    self.core = core
    self.seat = seat
    self.file = file
    self.isFresh = isFresh
    timing = PacketTiming(fileTime: file.start ?? 0, media: 0, fileEnd: nil, mayLeap: file.mayLeap)
    pictures = file.video.flatMap { PictureReading($0, core: core, seat: seat) }
    sound = file.audio.flatMap { SoundReading($0, core: core) }
    if core.info.encodedFormat != nil { rewriter = file.video.flatMap { try? PictureRewriter($0.description) } }
    core.monitor.change { state, _ in
      if pictures == nil { state.video.isDead = true }
      if sound == nil { state.audio.isDead = true }
    }
  }

  /// Returns when nobody wants the file any more.
  func run(noteEnded: () -> Void) {
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
      switch job {
      case .exit: return
      case .seek(let position): seek(to: position)
      case .read: read()
      case .decodePicture(let work):
        pictures?.decode(work)
        noteDecoded()
      case .decodeSound(let work):
        sound?.decode(work)
        noteDecoded()
      }
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

  // MARK: - Reading

  private func read() {
    switch file.read() {
    case .packet(let packet, let stream): take(packet, of: stream)
    case .end: endPass(lost: nil)
    case .failure(let reason):
      endPass(lost: "\(file.path) could not be read further: \(reason)")
    }
  }

  private func take(_ packet: UnsafeMutablePointer<AVPacket>, of stream: MediaStream, startsAfterJump: Bool = false) {
    let isPicture = stream.isPicture
    if pass.pictures + pass.sounds == 0, file.start == nil, let first = time(of: packet, stream) {
      timing = PacketTiming(fileTime: first, media: pass.start, fileEnd: nil, mayLeap: file.mayLeap)
    }
    if isPicture { pass.pictures += 1 } else { pass.sounds += 1 }
    let told = stream.duration(packet.pointee.duration)
    let duration = told > 0 ? told : stream.frameDuration.nanoseconds
    let place = timing.place(
      stream: stream.index, pts: stream.nanoseconds(packet.pointee.pts), dts: stream.nanoseconds(packet.pointee.dts),
      duration: duration, cut: Self.cutEnd(packet, stream))
    // From here on the packet is on the media timeline; the decoder gives its frames the packets' times.
    packet.pointee.pts = place.presentation ?? cffmpeg_no_timestamp
    packet.pointee.dts = stream.nanoseconds(packet.pointee.dts).map { $0 + place.offset } ?? cffmpeg_no_timestamp
    packet.pointee.duration = told
    let payload = PacketPayload(owning: packet)
    let isKeyFrame = packet.pointee.flags & AV_PKT_FLAG_KEY != 0
    let demuxed = DemuxedPacket(
      payload: payload, isKeyFrame: isKeyFrame, isEntryPoint: isKeyFrame && (!isPicture || isEntryPoint(payload)),
      time: TimeDelta(nanoseconds: place.time), decodeTime: TimeDelta(nanoseconds: place.decodeTime),
      duration: TimeDelta(nanoseconds: told), startsAfterJump: startsAfterJump)
    let indexed = isPicture ? indexedKeyFrame(after: demuxed, place.offset) : nil
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
  private func indexedKeyFrame(after packet: DemuxedPacket, _ offset: Int64) -> TimeDelta? {
    guard core.info.encodedFormat != nil, indexIsTrue else { return nil }
    let next = file.indexedKeyFrame(after: packet.decodeTime.nanoseconds - offset)
    return next.map { TimeDelta(nanoseconds: $0) + TimeDelta(nanoseconds: offset) }
  }

  private func time(of packet: UnsafeMutablePointer<AVPacket>, _ stream: MediaStream) -> Int64? {
    stream.nanoseconds(packet.pointee.pts) ?? stream.nanoseconds(packet.pointee.dts)
  }

  /// How much of a packet's end is padding, in nanoseconds.
  private static func cutEnd(_ packet: UnsafeMutablePointer<AVPacket>, _ stream: MediaStream) -> Int64 {
    var size = 0
    guard !stream.isPicture, stream.description.audio.sampleRate > 0,
      let data = av_packet_get_side_data(packet, AV_PKT_DATA_SKIP_SAMPLES, &size), size >= 8
    else { return 0 }
    let samples = (4..<8).reversed().reduce(Int64(0)) { $0 << 8 | Int64(data[$1]) }
    return min(
      PacketTiming.longestDuration, samples * 1_000_000_000 / Int64(stream.description.audio.sampleRate))
  }

  // MARK: - The end and the next pass

  private func endPass(lost: String?) {
    let end = timing.end
    let isOnePicture = pass.beginsAtStart && pass.pictures == 1 && pass.sounds == 0
    let isLooped = core.options.isLooped && !isOnePicture && end - pass.start > 1_000_000
    // Asked at every end: it compares one with the next.
    let isFruitful = core.monitor.note { state, _ in state.noteEndOfPass() }
    if isLooped, isFruitful, lost == nil, rewindForLoop(at: end) { return }
    core.monitor.change { state, _ in
      state.appendEnd(
        lost.map { .lost($0) } ?? (isOnePicture ? .held : .at(TimeDelta(nanoseconds: end))))
    }
  }

  private func rewindForLoop(at end: Int64) -> Bool {
    let start = core.options.start
    guard let place = place(start, isRewind: true) else { return false }
    core.monitor.change { state, _ in state.appendLoop(at: TimeDelta(nanoseconds: end), position: place.position) }
    begin(place, media: end, startsAfterJump: false)
    return true
  }

  private func beginPass(fileTime: Int64, media: Int64, isStart: Bool) {
    // Longer by more than this than the container says: a mistake in one packet.
    let fileEnd = file.duration.map { ($0 + .seconds(30)).nanoseconds + (file.start ?? 0) }
    timing = PacketTiming(fileTime: fileTime, media: media, fileEnd: fileEnd, mayLeap: file.mayLeap)
    pass = PassCount(start: media, beginsAtStart: isStart)
    isFresh = false
  }

  private func fileTime(_ position: TimeDelta) -> Int64 {
    (file.start ?? 0) + max(0, min(PacketTiming.latestTime, position.nanoseconds))
  }

  // MARK: - Seeking

  /// A place in the file where reading goes on.
  private struct Place {
    var position: TimeDelta
    /// What was read already to find the key frame before it.
    var packets: [(UnsafeMutablePointer<AVPacket>, MediaStream)] = []
    /// That key frame's time in the file.
    var keyFrame: Int64?
  }

  private func seek(to position: TimeDelta) {
    let target = max(.zero, min(position, file.duration ?? position))
    let isFirst = isFresh && target == .zero
    let place = (isFirst ? nil : place(target, isRewind: false)) ?? Place(position: target)
    let media = core.monitor.change { state, now in
      state.beginPlace(at: place.position, now)
      return state.clock.media(at: now)
    }
    pictures?.reset()
    sound?.reset()
    begin(place, media: media.nanoseconds, startsAfterJump: true)
  }

  private func begin(_ place: Place, media: Int64, startsAfterJump: Bool) {
    beginPass(fileTime: fileTime(place.position), media: media, isStart: place.position == .zero)
    var startsAfterJump = startsAfterJump
    for (packet, stream) in place.packets {
      take(packet, of: stream, startsAfterJump: startsAfterJump)
      startsAfterJump = false
    }
  }

  /// Goes to the key frame at or before `target`; nil when the file cannot be moved in any way.
  private func place(_ target: TimeDelta, isRewind: Bool) -> Place? {
    if target == .zero, isRewind { return goToStart() ? Place(position: .zero) : nil }
    guard var place = search(target) else { return nil }
    // Packets can only be passed on from a key frame: the place is moved to it.
    let isTapped = core.monitor.read { state, _ in state.video.log.isTapped }
    if isTapped, let keyFrame = place.keyFrame {
      place.position = max(.zero, TimeDelta(nanoseconds: keyFrame - fileTime(.zero)))
    }
    return place
  }

  private func search(_ target: TimeDelta) -> Place? {
    let wanted = fileTime(target)
    // Some containers land too late: then from further ahead.
    for back in [0, 2_000_000_000, 10_000_000_000] as [Int64] where target.nanoseconds > back {
      guard file.seek(to: wanted - back) else { break }
      let (packets, first) = readToKeyFrame()
      if let first, first <= wanted { return Place(position: target, packets: packets, keyFrame: first) }
      for (packet, _) in packets { Self.free(packet) }
    }
    guard goToStart() else { return nil }
    let (packets, first) = readToKeyFrame()
    return Place(position: target, packets: packets, keyFrame: first)
  }

  private func readToKeyFrame() -> ([(UnsafeMutablePointer<AVPacket>, MediaStream)], Int64?) {
    var packets: [(UnsafeMutablePointer<AVPacket>, MediaStream)] = []
    while packets.count < 2000, case .packet(let packet, let stream) = file.read() {
      packets.append((packet, stream))
      let isMain = stream.isPicture || file.video == nil
      if isMain, packet.pointee.flags & AV_PKT_FLAG_KEY != 0 { return (packets, time(of: packet, stream)) }
    }
    return (packets, nil)
  }

  /// To the first packet, opening the file anew where its container cannot go back.
  private func goToStart() -> Bool {
    if file.rewind() { return true }
    guard let fresh = try? MediaFile(path: file.path, wantsAudio: core.options.playsSound),
      (fresh.video == nil) == (file.video == nil), (fresh.audio == nil) == (file.audio == nil)
    else { return false }
    file = fresh
    return true
  }

  private static func free(_ packet: UnsafeMutablePointer<AVPacket>) {
    var owned: UnsafeMutablePointer<AVPacket>? = packet
    av_packet_free(&owned)
  }
}
