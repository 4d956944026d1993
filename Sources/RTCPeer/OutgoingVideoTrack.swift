public import RTCEngine
public import RTCMedia
import RTCNet
public import RTCPrimitives
import Synchronization

/// One video for any number of attached peers, in one or several renditions. Each viewer receives one rendition at a
/// time.
public final class OutgoingVideoTrack: DeadlineHolder, @unchecked Sendable {
  // Why unchecked: `outlets`, `router`, `due`, `demand`, `heapIndex` and the handlers are touched on the loop's thread
  // alone; the rest is constant or atomic.
  /// The track's name and stream in descriptions.
  public let name: TrackName
  private let loop: EventLoop
  private let refusals: RefusalCounts
  /// Sets the moment at which `deadlineReached` is called.
  private let setDeadline: @Sendable (Timestamp, OutgoingVideoTrack) -> Void
  package var heapIndex: Int?
  private let enabled = Atomic(true)
  private var router: RenditionRouter<TrackSender>
  /// All attached senders.
  private var outlets: Set<TrackSender> = []
  /// The receivers of the present frame; kept to reuse its memory.
  private var due: [TrackSender] = []
  private var demand = RenditionDemand()
  private var onKeyFrameRequest: @Sendable (Rendition) -> KeyFrameAnswer = { _ in .coming }
  private var onDemandChanged: @Sendable (RenditionDemand) -> Void = { _ in }

  init(
    loop: EventLoop, name: TrackName, renditions: [RenditionFormat], preferred: Rendition?, rungs: Rungs? = nil,
    candidates: [VideoPayloadFormat] = [], refusals: RefusalCounts,
    setDeadline: @escaping @Sendable (Timestamp, OutgoingVideoTrack) -> Void
  ) {
    self.loop = loop
    self.name = name
    self.refusals = refusals
    self.setDeadline = setDeadline
    router = RenditionRouter(renditions: renditions, preferred: preferred, rungs: rungs, candidates: candidates)
  }

  /// Sets the source of the frames, replacing the present one. Both handlers are called on the loop's thread and must
  /// not wait. Any thread.
  /// - Parameters:
  ///   - onKeyFrameRequest: a viewer of this rendition needs a key frame. If the answer is to move it to another
  ///     rendition, that one is asked for a key frame next, and its answer is final.
  ///   - onDemandChanged: viewers need other renditions, bitrates or colour spaces.
  public func setSource(
    onKeyFrameRequest: @escaping @Sendable (Rendition) -> KeyFrameAnswer,
    onDemandChanged: @escaping @Sendable (RenditionDemand) -> Void = { _ in }
  ) {
    loop.post {
      self.onKeyFrameRequest = onKeyFrameRequest
      self.onDemandChanged = onDemandChanged
      if self.demand != RenditionDemand() { onDemandChanged(self.demand) }
    }
  }

  /// Hands `frame` to every attached peer that is on its rendition. Any thread; frames keep their order when one thread
  /// sends them.
  public func send(_ frame: EncodedFrame) {
    loop.post { self.fanOut(frame) }
  }

  /// False: muted, nothing is sent to anybody; a key frame is asked for when it is true again. Any thread.
  public var isEnabled: Bool {
    get { enabled.load(ordering: .relaxed) }
    set {
      guard enabled.exchange(newValue, ordering: .relaxed) != newValue else { return }
      loop.post {
        let now = MonotonicClock.now()
        for outlet in self.outlets { outlet.tell(isMuted: !newValue, now: now) }
        // No viewer can decode the next frames, so ask for key frames of all renditions.
        if newValue { for rendition in self.demand.renditions { _ = self.onKeyFrameRequest(rendition) } }
      }
    }
  }

  /// Sets the renditions, the best first. Any thread; ordered with the frames that the same thread sends. Viewers of a
  /// removed rendition change to another at its next key frame.
  /// - Parameters:
  ///   - preferred: the rendition that every viewer changes to at its next key frame, if it can decode it; nil: viewers
  ///     stay.
  ///   - rungs: the renditions that are rungs, the main rung first; nil: none. Side rungs serve viewers that join, lose
  ///     too many packets or are slow, so that their key frames cost the viewers of the main rung nothing.
  public func setRenditions(_ renditions: [RenditionFormat], preferred: Rendition?, rungs: Rungs? = nil) {
    loop.post {
      for rendition in self.router.setRenditions(renditions, preferred: preferred, rungs: rungs) {
        _ = self.onKeyFrameRequest(rendition)
      }
      self.announceDemand()
    }
  }

  /// Sets whether the rungs may change places when the main rung has no viewer left; true at first. Any thread.
  package func setSwapsRungs(_ swaps: Bool) {
    loop.post { self.router.swapsRungs = swaps }
  }

  private func fanOut(_ frame: EncodedFrame) {
    guard isEnabled else { return }
    let now = MonotonicClock.now()
    var due = due
    self.due = []
    if router.route(frame, now: now, into: &due) { announceDemand(now) }
    for outlet in due { outlet.slot.handle(.frame(frame, outlet.transceiver), now: now) }
    noteBacklog(of: frame.rendition, due, now)
    due.removeAll(keepingCapacity: true)
    self.due = due
  }

  /// Reports how long sent frames wait, for the viewer with the shortest wait, so that one slow viewer delays no other.
  private func noteBacklog(of rendition: Rendition, _ viewers: [TrackSender], _ now: Timestamp) {
    guard let least = viewers.lazy.map({ $0.slot.peer.sendBacklog(now) }).min() else { return }
    let (before, new) = (max(demand.drained[rendition] ?? now, now), now + least)
    guard max(before - new, new - before) >= Self.backlogStep else { return }
    demand.drained[rendition] = new
    onDemandChanged(demand)
  }
  /// Smaller differences are not reported.
  private static let backlogStep = TimeDelta.milliseconds(20)

  /// Requests key frames and reports changed demand.
  private func announceDemand(_ now: Timestamp = MonotonicClock.now()) {
    while let rendition = router.takeKeyFrameRequest() { _ = onKeyFrameRequest(rendition) }
    var new = router.demand(now: now)
    new.drained = demand.drained
    setDeadline(router.nextDeadline(now: now), self)
    guard new != demand else { return }
    demand = new
    onDemandChanged(new)
  }

  // MARK: - On the loop

  /// A viewer can take frames from now on. Calling it again does nothing.
  func attach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    outlets.insert(outlet)
    let abilities = outlet.slot.peer.videoAbilities(of: outlet.transceiver)
    // The first picture is encoded for the rate known so far.
    let bitrate = outlet.slot.peer.videoBitrate(of: outlet.transceiver)
    router.add(
      outlet, formats: abilities.formats, understandsColorSpace: abilities.supportsColorSpace,
      turnsPictures: abilities.supportsOrientation, bitrate: bitrate)
    // One that was added before has a new rate.
    if let bitrate { router.setBitrate(bitrate, of: outlet) }
    announceDemand()
  }

  func detach(_ outlet: TrackSender) {
    loop.assertOnLoop()
    outlets.remove(outlet)
    router.remove(outlet)
    announceDemand()
  }

  /// The bandwidth of the viewer's network has changed.
  func bitrateChanged(_ bitrate: BitRate, of outlet: TrackSender) {
    loop.assertOnLoop()
    router.setBitrate(bitrate, of: outlet)
    announceDemand()
  }

  /// The viewer has become silent, or answers again.
  func reachabilityChanged(_ isReachable: Bool, of outlet: TrackSender) {
    loop.assertOnLoop()
    router.setReachable(isReachable, outlet)
    announceDemand()
  }

  func keyFrameRequested(by outlet: TrackSender, _ reason: KeyFrameReason) {
    loop.assertOnLoop()
    let now = MonotonicClock.now()
    if let rendition = router.keyFrameNeeded(by: outlet, reason, now: now) {
      ask(for: outlet, rendition)
    } else {
      refusals.count(.keyFrame)
    }
    announceDemand(now)
  }

  func deadlineReached(_ now: Timestamp) {
    router.deadlineReached(now)
    for request in router.takeDueRequests() { ask(for: request.viewer, request.rendition) }
    announceDemand(now)
  }

  /// Asks the source for a key frame that a viewer needs.
  private func ask(for outlet: TrackSender, _ rendition: Rendition) {
    guard let other = router.take(onKeyFrameRequest(rendition), of: rendition, for: outlet) else { return }
    _ = onKeyFrameRequest(other)
  }

  /// The rung that the viewer is on, 0 the main rung, and why; nil without rungs.
  func rung(of outlet: TrackSender) -> (number: Int, reason: RungReason)? {
    loop.assertOnLoop()
    return router.rung(of: outlet)
  }

  /// Counters of the viewers' changes between rungs.
  package func rungCounts() async -> RungCounts {
    await withCheckedContinuation { continuation in
      let isPosted = loop.post { continuation.resume(returning: self.router.counts) }
      if !isPosted { continuation.resume(returning: RungCounts()) }
    }
  }
}
