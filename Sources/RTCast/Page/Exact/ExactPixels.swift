import RTCCodecWebP
import RTCMedia
import RTCNet
import RTCPage
import RTCPeer
import RTCPrimitives
import RTCSCTP
import RTCSignaling
import Synchronization

/// Exact pixels of still parts of a screen, for viewers whose page draws them over the video, and the whole picture for
/// viewers that have just joined.
///
/// The newest picture is kept as a lease on the capturer's memory. `ExactScheduler` decides, under the lock. The thread
/// that has the video encoders compares pictures before it encodes them; exact pixels are encoded on a thread of their
/// own. Messages are queued under the lock, so that their order is that of the events.
package final class ExactPixels: PageFeature {
  /// How it is done.
  struct Options: Sendable {
    /// Larger pictures are scaled down by the video, and are then not sent as they are.
    var maximumSize: PixelSize?
    /// The share of one core's time for encoding exact pixels.
    var cpuShare = 0.5
    /// The share of one core's time, for the whole process, above which no exact pixels are encoded; nil: no limit.
    var cpuLimit: Double?
  }

  fileprivate struct State {
    var scheduler = ExactScheduler()
    /// The newest picture, if it is a screen's.
    var picture: VideoFrame?
    /// Counts pictures that differ.
    var version: UInt64 = 0
    var isScreen: Bool
    var viewers: [String: ExactViewerChannel] = [:]
    /// Bandwidth estimates of connections that have no channel yet.
    var rates: [String: BitRate] = [:]
    var snapshot: Snapshot?
    /// Requests that wait for the picture.
    var waiting: [CheckedContinuation<CastSnapshot?, Never>] = []
    var allowance: EncodingAllowance
    var isOpen = true
  }

  fileprivate struct Snapshot {
    var version: UInt64
    var made: Timestamp
    var picture: CastSnapshot
  }

  fileprivate enum Work {
    case none(until: Timestamp?)
    case tile(ExactScheduler.Job, VideoFrame)
    case hash([ExactScheduler.Hashing], VideoFrame)
    case snapshot(VideoFrame, version: UInt64, number: UInt32)
    case end
  }

  private let options: Options
  private let report: @Sendable (BroadcastEvent) -> Void
  private let state: Mutex<State>
  private let waiter = Waiter()
  /// The hash of pixels that pages keep.
  private let pixelHash = PixelHash(key: .random(in: 0 ... .max))

  /// A picture that changes all the time is encoded for snapshots this often at most.
  fileprivate static let snapshotAge = TimeDelta.milliseconds(500)
  /// A pause in encoding of which the video need not make use.
  fileprivate static let shortWait = TimeDelta.milliseconds(100)
  /// A lossless picture larger than this is slower to see than one that is not exact.
  private static let largestSnapshot = 700_000

  /// - Parameter isScreen: pictures come from a screen at first.
  init(_ options: Options, isScreen: Bool, report: @escaping @Sendable (BroadcastEvent) -> Void) {
    self.options = options
    self.report = report
    let allowance = EncodingAllowance(share: options.cpuShare, limit: options.cpuLimit)
    state = Mutex(State(isScreen: isScreen, allowance: allowance))
    do {
      _ = try NamedThread(name: "rtc-exact") { [weak self, waiter] in
        var deadline: Timestamp?
        repeat { waiter.wait(until: deadline) } while self?.serve(&deadline) ?? false
      }
    } catch {
      report(.encoderFailed("Exact pixels are not sent: \(error)"))
    }
  }

  deinit { waiter.ring() }

  /// Ends the thread; nothing is sent any more.
  package func stop() {
    let waiting = state.withLock { state in
      state.isOpen = false
      state.picture = nil
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: nil) }
    waiter.ring()
  }

  // MARK: - Pictures, on the thread that has the video encoders

  package func handle(_ event: PageEvent) {
    guard case .sourceChanged(let capturer?) = event else { return }
    state.withLock { state in
      state.isScreen = capturer.isScreencast
      if !state.isScreen { state.forgetPicture() }
    }
  }

  /// The video's part in a pass of its encoders.
  struct Answer {
    /// The picture to encode, its damage reduced to the real changes.
    var picture: VideoFrame?
    /// Whether all viewers wait for exact pixels of still parts. Refinement of the video would delay these, and be
    /// visible only briefly.
    var yieldsRate: Bool
    /// How much of the picture viewers have already. Until a movement that all follow has ended, video of it would
    /// only take bandwidth.
    var following = HeldPicture.Following.none
  }

  /// Begins a pass of the video encoders: tells viewers what changes before a frame shows it.
  /// - Parameters:
  ///   - picture: the picture that is encoded next; nil: an older one is refined.
  ///   - changes: finds what differs from the picture before.
  ///   - isEncoded: whether there are viewers of the video.
  ///   - isMovement: whether the video waits for the end of a movement.
  ///   - count: the number of viewers of the video.
  func begin(
    _ picture: VideoFrame?, finding changes: inout ChangeFinder, isEncoded: Bool, isMovement: Bool, viewers count: Int
  ) -> Answer {
    guard let picture else {
      return Answer(picture: nil, yieldsRate: state.withLock { $0.wantsRate(ofViewers: count) })
    }
    let (isOffered, isWatched, wantsMoves) = state.withLock {
      let now = MonotonicClock.now()
      return ($0.isScreen, $0.scheduler.wantsChanges(now), $0.scheduler.wantsMoves && $0.allowance.nextTurn <= now)
    }
    guard isOffered else {
      return Answer(picture: picture, yieldsRate: state.withLock { $0.wantsRate(ofViewers: count) })
    }
    guard isEncoded || isWatched else {
      changes.skip(picture)
      return take(picture, nil, nil, count)
    }
    let (found, changed, moved) = changes.take(
      picture, isAsked: isWatched, findsMoves: wantsMoves && isExact(picture), isMovement: isMovement)
    guard var moved, let changed else { return take(found, changed, nil, count) }
    encodePatches(of: &moved, changed, found)
    return take(found, changed, moved, count)
  }

  /// Encodes the new pixels of a picture that moved: at once, as the page draws all parts together.
  private func encodePatches(of moved: inout MovedPicture, _ changed: BlockSet, _ picture: VideoFrame) {
    moved = state.withLock { [moved] state in
      var moved = moved
      state.scheduler.choosePatches(of: &moved, changed, MonotonicClock.now())
      return moved
    }
    // On a busy machine the time of the thread is much less than the time that passes.
    let start = ThreadClock.now()
    let refused = moved.encode { rect in
      let limit = BlockRect(covering: rect).area * ExactScheduler.maximumBytesPerBlock + 512
      return (try? WebPEncoder().encode(picture.buffer, rect, .fast)).flatMap { $0.count <= limit ? $0 : nil }
    }
    let time = ThreadClock.now() - start
    state.withLock { state in
      let now = MonotonicClock.now()
      state.allowance.note(time, now: now)
      state.scheduler.refusePatches(of: refused, now)
    }
  }

  /// - Parameters:
  ///   - changed: what differs from the picture before; nil: unknown, so everything.
  ///   - moved: what of it has moved.
  private func take(_ frame: VideoFrame, _ changed: BlockSet?, _ moved: MovedPicture?, _ count: Int) -> Answer {
    let (isNew, yieldsRate, following) = state.withLock { state in
      let isNew = state.take(frame, changed, moved, isExact: isExact(frame))
      let following = state.following(changed, moved, viewers: count)
      return (isNew, state.wantsRate(ofViewers: count), following)
    }
    if isNew { waiter.ring() }
    return Answer(picture: frame, yieldsRate: yieldsRate, following: following)
  }

  /// A frame that leaves next.
  func send(_ frame: EncodedFrame) {
    state.withLock { state in
      state.perform { scheduler, out in
        scheduler.frame(
          frame.captureTime, bytes: frame.data.count, now: MonotonicClock.now(), into: &out)
      }
    }
  }

  private func isExact(_ frame: VideoFrame) -> Bool {
    guard frame.buffer.format == .bgra, frame.rotation == .none else { return false }
    guard let limit = options.maximumSize else { return true }
    return frame.size.width <= limit.width && frame.size.height <= limit.height
  }

  // MARK: - Viewers, any thread

  /// Pictures are a screen's now, so that a viewer's channel has a use.
  package var isOffered: Bool { state.withLock { $0.isScreen } }

  package func handle(_ event: PeerConnectionEvent, of connection: PeerConnection) async {
    switch event {
    case .targetBitrateChanged(let rate, _):
      state.withLock { state in
        state.rates[connection.id] = rate
        state.scheduler.setRate(rate, of: connection.id, now: MonotonicClock.now())
      }
    case .connectivityChanged(let connectivity):
      state.withLock { $0.scheduler.setReachable(connectivity == .good, connection.id) }
    case .stateChanged(.ended):
      state.withLock { state in
        state.rates[connection.id] = nil
        state.remove(connection.id)
      }
    default: break
    }
  }

  package func accept(_ channel: DataChannel, of connection: PeerConnection) async -> Bool {
    guard channel.protocol == ExactMessage.channelProtocol, channel.isOrdered, channel.maxRetransmits == nil,
      channel.maxPacketLifeTime == nil, let clock = await connection.videoClock()
    else { return false }
    return open(channel, connection.id, clock)
  }

  private func open(_ channel: DataChannel, _ id: String, _ clock: RTPTimestamp) -> Bool {
    let viewer = ExactViewerChannel(channel) { [weak self] in self?.handle($0, from: id) }
    let isNew = state.withLock { state in
      guard state.isOpen, state.viewers[id] == nil else { return false }
      state.viewers[id] = viewer
      state.scheduler.add(id, clock: clock, rate: state.rates[id], now: MonotonicClock.now())
      return true
    }
    if isNew { channel.setDelegate(viewer) }
    return isNew
  }

  /// On the loop.
  private func handle(_ event: ExactViewerChannel.Event, from id: String) {
    state.withLock { state in
      switch event {
      case .said(let message):
        state.perform { scheduler, out in
          scheduler.handle(message, from: id, now: MonotonicClock.now(), into: &out)
        }
      case .closed: state.remove(id)
      }
    }
    waiter.ring()
  }

  package func measure(into statistics: inout BroadcastStatistics) {
    let pages = state.withLock { $0.scheduler.statistics }
    for index in statistics.peers.indices {
      statistics.peers[index].exact = pages[statistics.peers[index].id].map(BroadcastStatistics.Exact.init)
    }
  }

  // MARK: - Snapshots, any task

  /// The whole picture; nil while there is none of a screen. One encode serves all who ask meanwhile.
  func snapshot() async -> CastSnapshot? {
    await withCheckedContinuation { continuation in
      let known = state.withLock { state -> CastSnapshot?? in
        guard state.isOpen, state.picture != nil else { return .some(nil) }
        if let known = state.currentSnapshot(MonotonicClock.now()) { return known }
        state.waiting.append(continuation)
        return nil
      }
      if let known { continuation.resume(returning: known) } else { waiter.ring() }
    }
  }

  // MARK: - Encoding, on its own thread

  /// - Parameter deadline: when there is something to do next, if nothing happens before.
  /// - Returns: false when the thread is no longer needed.
  private func serve(_ deadline: inout Timestamp?) -> Bool {
    while true {
      switch state.withLock({ $0.nextWork(MonotonicClock.now()) }) {
      case .none(let until):
        deadline = until
        return true
      case .end: return false
      case .tile(let job, let picture): encode(job, picture)
      case .hash(let cells, let picture): hash(cells, picture)
      case .snapshot(let picture, let version, let number): encodeSnapshot(picture, version, number)
      }
    }
  }

  private func hash(_ cells: [ExactScheduler.Hashing], _ picture: VideoFrame) {
    let start = ThreadClock.now()
    let hashes = cells.map { pixelHash.hash($0.rect.pixels(in: picture.size), of: picture.buffer) }
    let time = ThreadClock.now() - start
    state.withLock { state in
      state.allowance.note(time, now: MonotonicClock.now())
      state.scheduler.finish(cells, hashes)
    }
  }

  private func encode(_ job: ExactScheduler.Job, _ picture: VideoFrame) {
    let start = ThreadClock.now()
    let effort = job.isThorough ? WebPEffort.better : .fast
    let webP = try? WebPEncoder().encode(picture.buffer, job.rect.pixels(in: picture.size), effort)
    let time = ThreadClock.now() - start
    state.withLock { state in
      state.allowance.note(time, now: MonotonicClock.now())
      state.scheduler.finish(job, webP)
    }
  }

  private func encodeSnapshot(_ picture: VideoFrame, _ version: UInt64, _ number: UInt32) {
    let start = ThreadClock.now()
    let (encoder, whole) = (WebPEncoder(), PixelRect(picture.size))
    var webP = try? encoder.encode(picture.buffer, whole, .fast)
    let isExact = webP.map { $0.count <= Self.largestSnapshot } ?? false
    if !isExact { webP = (try? encoder.encode(picture.buffer, whole, .lossy)) ?? webP }
    let made = webP.map { CastSnapshot(webP: $0, number: isExact ? number : nil) }
    let (time, end) = (ThreadClock.now() - start, MonotonicClock.now())
    let waiting = state.withLock { state in
      state.allowance.note(time, now: end)
      state.snapshot = made.map { Snapshot(version: version, made: end, picture: $0) }
      if !isExact { state.scheduler.forgetSnapshot(number) }
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume(returning: made) }
  }
}

extension ExactPixels.State {
  /// - Returns: true if there is something new for viewers.
  fileprivate mutating func take(
    _ frame: VideoFrame, _ changed: BlockSet?, _ moved: MovedPicture?, isExact: Bool
  ) -> Bool {
    guard isOpen, isScreen, isExact else {
      forgetPicture()
      return false
    }
    let changed = changed ?? .all(of: frame.size)
    picture = frame
    if !changed.isEmpty { version += 1 }
    perform { scheduler, out in
      scheduler.take(
        changed, moved: moved, captureTime: frame.captureTime, now: MonotonicClock.now(), into: &out)
    }
    return !changed.isEmpty && scheduler.hasViewers
  }

  /// How much of the newest picture all viewers have.
  fileprivate func following(
    _ changed: BlockSet?, _ moved: MovedPicture?, viewers count: Int
  ) -> HeldPicture.Following {
    guard isOpen, let changed, moved != nil || changed.isEmpty,
      scheduler.isFollowed(changed, byViewers: count, MonotonicClock.now())
    else { return .none }
    return moved.map(\.moves.isEmpty) ?? true ? .complete : .moved
  }

  /// Whether all viewers wait for exact pixels.
  /// - Parameter count: the number of viewers of the video.
  fileprivate func wantsRate(ofViewers count: Int) -> Bool {
    let now = MonotonicClock.now()
    guard isOpen, allowance.nextTurn <= now + ExactPixels.shortWait else { return false }
    return scheduler.wantsRate(ofViewers: count, now)
  }

  fileprivate mutating func perform(_ body: (inout ExactScheduler, inout [ExactScheduler.Delivery]) -> Void) {
    var out: [ExactScheduler.Delivery] = []
    body(&scheduler, &out)
    deliver(out)
  }

  /// A channel that takes nothing has ended, or its viewer reads nothing: it gets no more.
  private mutating func deliver(_ messages: [ExactScheduler.Delivery]) {
    for delivery in messages where viewers[delivery.viewer]?.send(delivery.message) == false {
      viewers[delivery.viewer]?.channel.close()
      remove(delivery.viewer)
    }
  }

  fileprivate mutating func remove(_ id: String) {
    viewers[id] = nil
    scheduler.remove(id)
  }

  fileprivate mutating func forgetPicture() {
    guard picture != nil else { return }
    picture = nil
    snapshot = nil
    version += 1
    perform { scheduler, out in scheduler.reset(MonotonicClock.now(), into: &out) }
  }

  /// A snapshot that is already encoded, if there is one. Its receiver may refer to it for a limited time.
  fileprivate mutating func currentSnapshot(_ now: Timestamp) -> CastSnapshot? {
    guard let snapshot else { return nil }
    let isNewest = snapshot.version == version
    guard isNewest || now - snapshot.made < ExactPixels.snapshotAge else { return nil }
    if let number = snapshot.picture.number { scheduler.noteSnapshot(number, isNewest: isNewest, now: now) }
    return snapshot.picture
  }

  fileprivate mutating func nextWork(_ now: Timestamp) -> ExactPixels.Work {
    guard isOpen else { return .end }
    guard let picture else { return .none(until: nil) }
    if !waiting.isEmpty {
      // No two runs of the program give the same.
      let number = UInt32.random(in: 0 ... .max)
      scheduler.noteSnapshot(number, isNewest: true, now: now)
      return .snapshot(picture, version: version, number: number)
    }
    if allowance.hasLimit { allowance.noteProcess(ProcessorTime.now(), now: now) }
    var recall = ExactScheduler.Recall.wait(until: nil)
    perform { scheduler, out in recall = scheduler.recall(now, into: &out) }
    let wake: Timestamp?
    switch recall {
    case .hash(let cells): return .hash(cells, picture)
    case .wait(let until): wake = until
    }
    guard allowance.nextTurn <= now else { return .none(until: min(allowance.nextTurn, wake ?? allowance.nextTurn)) }
    var step = ExactScheduler.Step.wait(until: nil)
    perform { scheduler, out in step = scheduler.next(now, into: &out) }
    switch step {
    case .encode(let job): return .tile(job, picture)
    case .wait(let until): return .none(until: [until, wake].compactMap(\.self).min())
    }
  }
}
