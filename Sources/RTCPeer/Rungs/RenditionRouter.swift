public import RTCEngine
public import RTCMedia
public import RTCPrimitives

/// A source's answer when a viewer of one of its renditions needs a key frame.
public enum KeyFrameAnswer: Hashable, Sendable {
  /// A key frame follows: its encoder was asked, or one comes soon enough by itself.
  case coming
  /// No key frame follows soon enough: the viewer is to change to this rendition, which is then asked for a key frame.
  case move(to: Rendition)
}

/// A rendition of a source and its format.
public struct RenditionFormat: Hashable, Sendable {
  /// The rendition.
  public var rendition: Rendition
  /// How it is coded, as SDP puts it.
  public var format: VideoPayloadFormat
  /// Whether its pictures must be rotated for display; viewers must support that.
  public var isTurned: Bool

  /// A rendition and how it is coded.
  public init(_ rendition: Rendition, _ format: VideoPayloadFormat, isTurned: Bool = false) {
    self.rendition = rendition
    self.format = format
    self.isTurned = isTurned
  }
}

/// The combined requirements of a track's viewers for its renditions, so that unneeded renditions are not made.
public struct RenditionDemand: Hashable, Sendable {
  /// The renditions with a viewer on it or changing to it, whose network answers.
  public var renditions: Set<Rendition> = []
  /// The bitrate of each rendition; absent until it is known for one of its viewers. Without rungs: that of the best
  /// network among the viewers. For the main rung: the smallest of those near the best. For a side rung and any other:
  /// the smallest.
  public var bitrates: [Rendition: BitRate] = [:]
  /// The time at which the sent frames of each rendition will have left all queues, for the viewer with the shortest
  /// queue; absent if nothing waits.
  public var drained: [Rendition: Timestamp] = [:]
  /// The renditions with a viewer that does not support `EncodedFrame.colorSpace`.
  public var withoutColorSpace: Set<Rendition> = []
  /// Viewers that can take none of the renditions there are.
  public var unservedViewers = 0
  /// Viewers whose network answers.
  public var viewers = 0
  /// The number of viewers that can decode each of the track's candidates.
  public var takers: [Int] = []
  /// The rungs; nil without side rungs. The main rung changes places with a side rung when it has no viewer left.
  public var rungs: Rungs?
  /// Whether viewers of the side rung would change at a key frame of the main rung: one is to be made where it costs
  /// almost nothing.
  public var awaitsHandover = false

  /// On no rendition yet.
  public init() {}
}

/// Decides which viewer gets which rendition of a track: each is on one at a time and changes at key frames.
///
/// If the track has rungs, each viewer belongs on the main rung or on a side rung, by the rules of `RungPolicy`: a key
/// frame that one viewer needs must not cost those on the main rung anything.
package struct RenditionRouter<Viewer: Hashable> {
  /// The state of one viewer.
  private struct Place {
    var viewer: Viewer
    var formats: [VideoPayloadFormat]
    var understandsColorSpace: Bool
    var turnsPictures: Bool
    /// The rendition whose frames it gets; nil while it waits for the first key frame of `target`.
    var current: Rendition?
    /// The rendition it goes over to with the next key frame of it.
    var target: Rendition?
    /// The bandwidth of its network; nil until it is known.
    var bitrate: BitRate?
    /// False while its network does not answer.
    var isReachable = true
    var standing = RungStanding()
    var budget = KeyFrameBudget()
    /// The time to ask for the key frame that it needs; nil: it was asked for, or none is needed.
    var requestDue: Timestamp?

    /// The rendition that it receives or is changing to.
    var place: Rendition? { target ?? current }

    func takes(_ format: VideoPayloadFormat) -> Bool { formats.contains { $0.takes(format) } }
    func takes(_ rendition: RenditionFormat) -> Bool {
      takes(rendition.format) && (turnsPictures || !rendition.isTurned)
    }
  }

  /// The renditions in order of preference; empty: all frames are `Rendition.encoded`.
  private var renditions: [RenditionFormat]
  /// Formats that may be made later; the viewers that can decode each are counted.
  private let candidates: [VideoPayloadFormat]
  /// The rendition of every viewer that can decode it.
  private var preferred: Rendition?
  private var places: [Place] = []
  private var rungs: Rungs?
  /// When each was asked for a key frame last.
  private var asked: [Rendition: Timestamp] = [:]
  /// Delayed key-frame requests that are due, with their viewers.
  private var dueRequests: [(viewer: Viewer, rendition: Rendition)] = []
  /// The recent rate of the main rung's content.
  private var output = RateMeter()
  /// The rungs to ask for a key frame, because viewers were moved to them.
  private var wantedKeyFrames: Set<Rendition> = []
  /// The last reported bitrate of each rung.
  private var told: [Rendition: BitRate] = [:]
  /// Whether a side rung replaces the main rung when that has no viewer left.
  package var swapsRungs = true
  package private(set) var counts = RungCounts()

  package init(
    renditions: [RenditionFormat] = [], preferred: Rendition? = nil, rungs: Rungs? = nil,
    candidates: [VideoPayloadFormat] = []
  ) {
    self.renditions = renditions
    self.candidates = candidates
    self.preferred = preferred
    self.rungs = Self.severalRungs(rungs)
  }

  /// One rung alone needs no rules.
  private static func severalRungs(_ rungs: Rungs?) -> Rungs? { rungs.flatMap { $0.sides.isEmpty ? nil : $0 } }

  /// The present requirements.
  package mutating func demand(now: Timestamp) -> RenditionDemand {
    var demand = RenditionDemand()
    demand.takers = candidates.map { _ in 0 }
    for place in places {
      if place.place == nil { demand.unservedViewers += 1 }
      guard place.isReachable else { continue }
      demand.viewers += 1
      for (index, format) in candidates.enumerated() where place.takes(format) { demand.takers[index] += 1 }
      for rendition in [place.current, place.target].compactMap(\.self) {
        demand.renditions.insert(rendition)
        if !place.understandsColorSpace { demand.withoutColorSpace.insert(rendition) }
        guard rungs == nil, let bitrate = place.bitrate else { continue }
        demand.bitrates[rendition] = max(bitrate, demand.bitrates[rendition] ?? bitrate)
      }
    }
    if let rungs { addRungs(rungs, to: &demand, now) }
    return demand
  }

  // MARK: - Viewers

  /// Adds a viewer that can decode `formats`; a viewer that was added before keeps its state.
  /// - Parameters:
  ///   - turnsPictures: whether it rotates pictures for display.
  ///   - bitrate: the bandwidth of its network, if it is known.
  package mutating func add(
    _ viewer: Viewer, formats: [VideoPayloadFormat], understandsColorSpace: Bool, turnsPictures: Bool = true,
    bitrate: BitRate? = nil
  ) {
    guard index(viewer) == nil else { return }
    var place = Place(
      viewer: viewer, formats: formats, understandsColorSpace: understandsColorSpace, turnsPictures: turnsPictures)
    place.bitrate = bitrate
    if let rungs, canTake(rungs.main, place), let side = sideRung(for: place) {
      // It has no picture yet, so frames that refer to others are of no use.
      place.target = hasPicture(of: rungs.main) ? side : rungs.main
      if place.target == side { place.standing.join() }
    } else {
      place.current = beginning(place)
    }
    places.append(place)
  }

  package mutating func remove(_ viewer: Viewer) {
    places.removeAll { $0.viewer == viewer }
    swapIfDeserted()
  }

  /// Sets the bandwidth of `viewer`'s network.
  package mutating func setBitrate(_ bitrate: BitRate, of viewer: Viewer) {
    if let index = index(viewer) { places[index].bitrate = bitrate }
  }

  /// Sets whether `viewer`'s network answers. If not, its state is kept, but nothing is made for it alone.
  package mutating func setReachable(_ isReachable: Bool, _ viewer: Viewer) {
    guard let index = index(viewer) else { return }
    places[index].isReachable = isReachable
    swapIfDeserted()
  }

  // MARK: - Renditions

  /// Takes the place of all earlier ones. Viewers of a rendition that is no more, or that they cannot take, go over.
  /// - Parameter rungs: the renditions that are rungs; nil: none.
  /// - Returns: renditions to be asked for a key frame.
  package mutating func setRenditions(
    _ new: [RenditionFormat], preferred: Rendition?, rungs: Rungs? = nil
  ) -> Set<Rendition> {
    renditions = new
    self.preferred = preferred
    self.rungs = Self.severalRungs(rungs)
    self.asked = [:]
    var asked: Set<Rendition> = []
    for index in places.indices {
      places[index].standing = RungStanding()
      if isOnSide(places[index].current) { places[index].standing.join() }
      if let current = places[index].current, canTake(current, places[index]) {
        if let target = places[index].target, !canTake(target, places[index]) { places[index].target = nil }
        continue
      }
      places[index].current = nil
      places[index].target = beginning(places[index])
      if let target = places[index].target { asked.insert(target) }
    }
    return asked
  }

  /// Appends the receivers of `frame` to `receivers`, and changes those for whom it begins another rendition.
  /// - Returns: true if the requirements may have changed.
  package mutating func route(_ frame: EncodedFrame, now: Timestamp, into receivers: inout [Viewer]) -> Bool {
    var moved = false
    for index in places.indices {
      if places[index].current == frame.rendition {
        if frame.isKeyFrame, settle(index, on: frame.rendition, now) { moved = true }
      } else if frame.isKeyFrame, belongs(places[index], on: frame.rendition, now) {
        places[index].current = frame.rendition
        _ = settle(index, on: frame.rendition, now, isNew: true)
        moved = true
      } else {
        continue
      }
      receivers.append(places[index].viewer)
    }
    if let rungs, frame.rendition == rungs.main {
      output.add(frame.data.count, now)
      if moveSlow(rungs, now) { moved = true }
    }
    if moved { swapIfDeserted() }
    return moved
  }

  /// A key frame of the viewer's rendition was sent: the reason to change is gone, unless its network is too slow.
  private mutating func settle(_ index: Int, on rendition: Rendition, _ now: Timestamp, isNew: Bool = false) -> Bool {
    places[index].requestDue = nil
    if rendition == rungs?.main {
      guard isNew || places[index].target == nil || places[index].standing.reason != .slow else { return false }
      if isNew, places[index].standing.reason != .main { counts.handovers += 1 }
      if isNew || places[index].target != nil { places[index].standing.comeToMain(now: now) }
    }
    defer { places[index].target = nil }
    return places[index].target != nil
  }

  // MARK: - Key frames

  /// Records that `viewer` needs a key frame, and moves it to a side rung if that costs the other viewers nothing.
  /// Requests beyond its budget are delayed, so that other viewers do not notice them.
  /// - Returns: the rendition to ask for it; nil if the viewer can decode none, or the request is due later.
  package mutating func keyFrameNeeded(by viewer: Viewer, _ reason: KeyFrameReason, now: Timestamp) -> Rendition? {
    guard let index = index(viewer), let place = places[index].place else { return nil }
    guard let rungs else { return requestKeyFrame(index, reason, of: place, now) }
    counts.keyFrameRequests[reason, default: 0] += 1
    if place == rungs.main {
      guard hasPicture(of: rungs.main, besides: viewer), let side = sideRung(for: places[index]) else {
        return requestKeyFrame(index, reason, of: place, now)
      }
      moveOff(index, RungReason(reason), to: side, now)
      return requestKeyFrame(index, reason, of: side, now)
    }
    return requestKeyFrame(index, reason, of: place, now)
  }

  /// - Returns: the rendition, if it is to be asked now.
  private mutating func requestKeyFrame(
    _ index: Int, _ reason: KeyFrameReason, of rendition: Rendition, _ now: Timestamp
  ) -> Rendition? {
    let isShared = hasPicture(of: rendition, besides: places[index].viewer)
    var due = places[index].budget.earliest(reason, isShared: isShared)
    if isShared, reason != .begin, let last = asked[rendition] {
      due = max(due, last + PeerLimits.sharedKeyFrameInterval)
    }
    guard due <= now else {
      places[index].requestDue = min(places[index].requestDue ?? due, due)
      return nil
    }
    places[index].budget.take(reason, isShared: isShared, now: now)
    places[index].requestDue = nil
    asked[rendition] = now
    return rendition
  }

  /// Handles the answer of a source that was asked for `viewer`.
  /// - Returns: another rendition to ask now; its answer is final.
  package mutating func take(_ answer: KeyFrameAnswer, of asked: Rendition, for viewer: Viewer) -> Rendition? {
    guard case .move(let wanted) = answer, wanted != asked, let index = index(viewer) else { return nil }
    let other =
      canTake(wanted, places[index])
      ? wanted : renditions.first { $0.rendition != asked && places[index].takes($0) }?.rendition
    guard let other else { return nil }
    places[index].target = other == places[index].current ? nil : other
    return other
  }

  // MARK: - Time

  /// The time at which `deadlineReached` has work: a viewer may change rungs, or a delayed request is due.
  package func nextDeadline(now: Timestamp) -> Timestamp {
    var next = Timestamp.distantFuture
    for place in places where place.isReachable { next = min(next, place.requestDue ?? .distantFuture) }
    guard let rungs else { return next }
    let main = told[rungs.main]
    for place in places where place.isReachable && isOnSide(place.current) {
      if let handover = place.standing.handoverTime(place.bitrate, main: main), handover > now {
        next = min(next, handover)
      }
    }
    return next
  }

  /// Performs the requests that are due.
  package mutating func deadlineReached(_ now: Timestamp) {
    for index in places.indices {
      guard places[index].isReachable, let due = places[index].requestDue, due <= now,
        let place = places[index].place
      else { continue }
      places[index].requestDue = nil
      if let rendition = requestKeyFrame(index, .request, of: place, now) {
        dueRequests.append((places[index].viewer, rendition))
      }
    }
  }

  /// A rung to ask for a key frame, each once; nil: none.
  package mutating func takeKeyFrameRequest() -> Rendition? { wantedKeyFrames.popFirst() }

  /// Delayed key-frame requests that are due, with their viewers; each once.
  package mutating func takeDueRequests() -> [(viewer: Viewer, rendition: Rendition)] {
    defer { dueRequests = [] }
    return dueRequests
  }

  // MARK: - Reading

  /// The number of the rung that `viewer` is on, 0 the main rung, and why; nil without rungs. A viewer that decodes no
  /// rung counts as on the first side rung.
  package func rung(of viewer: Viewer) -> (number: Int, reason: RungReason)? {
    guard let rungs, let index = index(viewer), let place = places[index].place else { return nil }
    guard place != rungs.main else { return (0, .main) }
    let number = rungs.all.firstIndex(of: place) ?? 1
    return (number, canTake(rungs.main, places[index]) ? places[index].standing.reason : .codec)
  }

  // MARK: - Rules

  private func index(_ viewer: Viewer) -> Int? { places.firstIndex { $0.viewer == viewer } }

  private func canTake(_ rendition: Rendition, _ place: Place) -> Bool {
    if renditions.isEmpty { return rendition == .encoded }
    return renditions.contains { $0.rendition == rendition && place.takes($0) }
  }

  /// The first rendition of a viewer without a picture.
  private func beginning(_ place: Place) -> Rendition? {
    if renditions.isEmpty { return .encoded }
    if let preferred, canTake(preferred, place) { return preferred }
    return renditions.first { place.takes($0) }?.rendition
  }

  private func belongs(_ place: Place, on rendition: Rendition, _ now: Timestamp) -> Bool {
    if rendition == place.target { return true }
    if let rungs, rendition == rungs.main {
      return isOnSide(place.place) && isReadyForMain(place, told[rungs.main], now)
    }
    return rendition == preferred && canTake(rendition, place)
  }
}

// MARK: - Rungs

extension RenditionRouter {
  /// Whether a reachable viewer has a picture of this rendition.
  private func hasPicture(of rendition: Rendition, besides viewer: Viewer? = nil) -> Bool {
    places.contains { $0.isReachable && $0.current == rendition && $0.viewer != viewer }
  }

  private func isOnSide(_ rendition: Rendition?) -> Bool {
    guard let rendition, let rungs else { return false }
    return rungs.sides.contains(rendition)
  }

  /// The side rung for a viewer that is on none: the first whose viewers it does not slow down, else the last; nil if it
  /// can decode none.
  private func sideRung(for place: Place) -> Rendition? {
    guard let sides = rungs?.sides.filter({ canTake($0, place) }) else { return nil }
    return sides.first { side in
      let members = places.lazy.filter { $0.isReachable && $0.place == side }
      return RungPolicy.suits(place.bitrate, best: members.compactMap(\.bitrate).max())
    } ?? sides.last
  }

  private func isReadyForMain(_ place: Place, _ main: BitRate?, _ now: Timestamp) -> Bool {
    guard let rungs, canTake(rungs.main, place) else { return false }
    return place.standing.handoverTime(place.bitrate, main: main).map { $0 <= now } ?? false
  }

  private mutating func moveOff(_ index: Int, _ why: RungReason, to side: Rendition, _ now: Timestamp) {
    places[index].standing.moveOff(why, now: now)
    places[index].target = side
    counts.moves[why, default: 0] += 1
  }

  /// Moves viewers off the main rung whose bandwidth its content has exceeded.
  /// - Returns: true if a viewer was moved.
  private mutating func moveSlow(_ rungs: Rungs, _ now: Timestamp) -> Bool {
    let members = places.lazy.filter { $0.isReachable && $0.place == rungs.main }
    guard let best = members.compactMap(\.bitrate).max() else { return false }
    let need = output.rate(now)
    var moved = false
    for index in places.indices where places[index].place == rungs.main && places[index].current == rungs.main {
      guard places[index].standing.isTooSlow(places[index].bitrate, best: best, need: need, now: now),
        let side = sideRung(for: places[index])
      else { continue }
      moveOff(index, .slow, to: side, now)
      wantedKeyFrames.insert(side)
      moved = true
    }
    return moved
  }

  /// If no viewer is on the main rung but some are on a side rung, the two change places, which viewers do not notice. A
  /// side rung in another format, for viewers that cannot decode the main rung's, stays: viewers that can decode the
  /// main rung change to it, and its key frame costs no other viewer anything.
  private mutating func swapIfDeserted() {
    guard let rungs, !places.contains(where: { $0.isReachable && $0.place == rungs.main }) else { return }
    let alike = rungs.sides.filter { format(of: $0) == format(of: rungs.main) }
    guard !alike.isEmpty else { return fillMain(rungs) }
    guard swapsRungs, let side = alike.first(where: { hasPicture(of: $0) }) else { return }
    self.rungs?.promote(side)
    output = RateMeter()
    for index in places.indices {
      places[index].standing = RungStanding()
      if isOnSide(places[index].place) { places[index].standing.join() }
    }
  }

  private mutating func fillMain(_ rungs: Rungs) {
    for index in places.indices where places[index].isReachable && isOnSide(places[index].current) {
      guard canTake(rungs.main, places[index]) else { continue }
      places[index].target = rungs.main
      wantedKeyFrames.insert(rungs.main)
    }
  }

  private func format(of rendition: Rendition) -> VideoPayloadFormat? {
    renditions.first { $0.rendition == rendition }?.format
  }

  private mutating func addRungs(_ rungs: Rungs, to demand: inout RenditionDemand, _ now: Timestamp) {
    demand.rungs = rungs
    let present = places.lazy.filter(\.isReachable)
    let main = tell(
      RungPolicy.mainRate(present.filter { $0.place == rungs.main }.compactMap(\.bitrate)), of: rungs.main)
    demand.bitrates[rungs.main] = main
    for side in rungs.sides {
      var rate = present.filter { $0.place == side }.compactMap(\.bitrate).min()
      if let main, present.contains(where: { $0.place == side && $0.standing.isMovedOff }) {
        rate = rate.map { min($0, main.scaled(by: RungPolicy.sideShare)) }
      }
      demand.bitrates[side] = tell(rate, of: side)
    }
    for rendition in demand.renditions where !rungs.all.contains(rendition) {
      demand.bitrates[rendition] = present.filter { $0.place == rendition }.compactMap(\.bitrate).min()
    }
    for index in places.indices where isOnSide(places[index].place) {
      places[index].standing.note(places[index].bitrate, main: main, now: now)
      if places[index].isReachable, isOnSide(places[index].current), isReadyForMain(places[index], main, now) {
        demand.awaitsHandover = true
      }
    }
  }

  /// The rate to report for a rung: the last one, if the new one differs little.
  private mutating func tell(_ rate: BitRate?, of rung: Rendition) -> BitRate? {
    if let rate, let before = told[rung] {
      let difference = abs(Double(rate.bitsPerSecond - before.bitsPerSecond))
      if difference < Double(before.bitsPerSecond) * RungPolicy.tellingShare { return before }
    }
    told[rung] = rate
    return rate
  }
}

extension RungReason {
  init(_ reason: KeyFrameReason) {
    switch reason {
    case .begin: self = .joined
    case .request: self = .request
    case .backlog: self = .backlog
    case .loss: self = .loss
    }
  }
}
