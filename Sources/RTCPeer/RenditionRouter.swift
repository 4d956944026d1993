public import RTCEngine
public import RTCMedia
public import RTCPrimitives

/// What a source says when a viewer of one of its renditions needs a key frame.
public enum KeyFrameAnswer: Hashable, Sendable {
  /// One comes: its maker was asked, or it comes by itself soon enough.
  case coming
  /// None comes soon enough: the viewer is to go over to this rendition, which is then asked for a key frame.
  case move(to: Rendition)
}

/// A rendition that a source can make, and what it is coded with.
public struct RenditionFormat: Hashable, Sendable {
  /// Which coding of the source.
  public var rendition: Rendition
  /// How it is coded, as SDP puts it.
  public var format: VideoPayloadFormat

  /// A rendition and how it is coded.
  public init(_ rendition: Rendition, _ format: VideoPayloadFormat) {
    self.rendition = rendition
    self.format = format
  }
}

/// What the viewers of a track need of its renditions, so that whatever nobody needs is not made.
public struct RenditionDemand: Hashable, Sendable {
  /// Those with a viewer on it or on the way to it, whose network answers.
  public var renditions: Set<Rendition> = []
  /// What the best network among the viewers of each rendition bears; absent until one of them is known.
  public var bitrates: [Rendition: BitRate] = [:]
  /// Those of them with a viewer that does not understand `EncodedFrame.colorSpace`.
  public var withoutColorSpace: Set<Rendition> = []
  /// Viewers that can take none of the renditions there are.
  public var unservedViewers = 0

  /// On no rendition yet.
  public init() {}
}

/// Decides which viewer gets which rendition of a track: each is on one at a time and changes at key frames.
package struct RenditionRouter<Viewer: Hashable> {
  /// Where one viewer stands.
  private struct Place {
    var viewer: Viewer
    var formats: [VideoPayloadFormat]
    var understandsColorSpace: Bool
    /// The rendition whose frames it gets; nil while it waits for the first key frame of `target`.
    var current: Rendition?
    /// The rendition it goes over to with the next key frame of it.
    var target: Rendition?
    /// What its network bears; nil until that is known.
    var bitrate: BitRate?
    /// False while nothing is heard of it.
    var isReachable = true

    func takes(_ format: VideoPayloadFormat) -> Bool { formats.contains { $0.takes(format) } }
  }

  /// In order of preference; none: whatever is sent as `Rendition.encoded`.
  private var renditions: [RenditionFormat]
  /// Where every viewer that can take it belongs.
  private var preferred: Rendition?
  private var places: [Place] = []

  package init(renditions: [RenditionFormat] = [], preferred: Rendition? = nil) {
    self.renditions = renditions
    self.preferred = preferred
  }

  package var demand: RenditionDemand {
    var demand = RenditionDemand()
    for place in places {
      let wanted = [place.current, place.target].compactMap(\.self)
      if wanted.isEmpty { demand.unservedViewers += 1 }
      guard place.isReachable else { continue }
      for rendition in wanted {
        demand.renditions.insert(rendition)
        if !place.understandsColorSpace { demand.withoutColorSpace.insert(rendition) }
        guard let bitrate = place.bitrate else { continue }
        demand.bitrates[rendition] = max(bitrate, demand.bitrates[rendition] ?? bitrate)
      }
    }
    return demand
  }

  // MARK: - Viewers

  /// Takes in a viewer that can decode `formats`; one that is in keeps its place.
  package mutating func add(_ viewer: Viewer, formats: [VideoPayloadFormat], understandsColorSpace: Bool) {
    guard index(viewer) == nil else { return }
    var place = Place(viewer: viewer, formats: formats, understandsColorSpace: understandsColorSpace)
    place.current = beginning(place)
    places.append(place)
  }

  package mutating func remove(_ viewer: Viewer) { places.removeAll { $0.viewer == viewer } }

  /// Takes in what the network of `viewer` bears.
  package mutating func setBitrate(_ bitrate: BitRate, of viewer: Viewer) {
    if let index = index(viewer) { places[index].bitrate = bitrate }
  }

  /// Says whether `viewer` is heard of. One that is not keeps its place; nothing is made for it alone.
  package mutating func setReachable(_ isReachable: Bool, _ viewer: Viewer) {
    if let index = index(viewer) { places[index].isReachable = isReachable }
  }

  // MARK: - Renditions

  /// Takes the place of all earlier ones. Viewers of a rendition that is no more, or that they cannot take, go over.
  /// - Returns: renditions to be asked for a key frame.
  package mutating func setRenditions(_ new: [RenditionFormat], preferred: Rendition?) -> Set<Rendition> {
    renditions = new
    self.preferred = preferred
    var asked: Set<Rendition> = []
    for index in places.indices {
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

  /// Appends those to `receivers` who get `frame`, and moves those for whom it is the beginning of another rendition.
  /// - Returns: true when somebody moved.
  package mutating func route(_ frame: EncodedFrame, into receivers: inout [Viewer]) -> Bool {
    var moved = false
    for index in places.indices {
      if places[index].current == frame.rendition {
        // What it was to go over for has come where it is.
        if frame.isKeyFrame, places[index].target != nil {
          places[index].target = nil
          moved = true
        }
      } else if frame.isKeyFrame, belongs(places[index], on: frame.rendition) {
        places[index].current = frame.rendition
        places[index].target = nil
        moved = true
      } else {
        continue
      }
      receivers.append(places[index].viewer)
    }
    return moved
  }

  // MARK: - Key frames

  /// The rendition to ask for a key frame for `viewer`; nil when there is none it could take.
  package func keyFrameNeeded(by viewer: Viewer) -> Rendition? {
    index(viewer).flatMap { places[$0].target ?? places[$0].current }
  }

  /// Takes the answer of a source that was asked for `viewer`.
  /// - Returns: the other rendition that is to be asked now, whose answer is final.
  package mutating func take(_ answer: KeyFrameAnswer, of asked: Rendition, for viewer: Viewer) -> Rendition? {
    guard case .move(let wanted) = answer, wanted != asked, let index = index(viewer) else { return nil }
    let other =
      canTake(wanted, places[index])
      ? wanted : renditions.first { $0.rendition != asked && places[index].takes($0.format) }?.rendition
    guard let other else { return nil }
    places[index].target = other == places[index].current ? nil : other
    return other
  }

  // MARK: - Rules

  private func index(_ viewer: Viewer) -> Int? { places.firstIndex { $0.viewer == viewer } }

  private func canTake(_ rendition: Rendition, _ place: Place) -> Bool {
    if renditions.isEmpty { return rendition == .encoded }
    return renditions.contains { $0.rendition == rendition && place.takes($0.format) }
  }

  /// Where a viewer without a picture begins.
  private func beginning(_ place: Place) -> Rendition? {
    if renditions.isEmpty { return .encoded }
    if let preferred, canTake(preferred, place) { return preferred }
    return renditions.first { place.takes($0.format) }?.rendition
  }

  private func belongs(_ place: Place, on rendition: Rendition) -> Bool {
    rendition == place.target || (rendition == preferred && canTake(rendition, place))
  }
}
