internal import RTCMedia
internal import RTCPrimitives

/// The time that a file waits for its tracks, measured by the capture times of the frames.
struct RecordingPatience {
  /// The wait after the first frame in any case: tracks that start together are announced one after the other.
  var settling: TimeDelta
  /// The wait for pictures that have had no key frame so far.
  var pictures: TimeDelta

  /// No wait: all tracks are known.
  static let none = RecordingPatience(settling: .zero, pictures: .zero)
  static let ofCalls = RecordingPatience(settling: .seconds(1), pictures: .milliseconds(2500))
}

/// The beginning of a file. It is kept in memory until it is known which tracks the file has. Frames that belong into
/// the file before are written there meanwhile, so that nothing is lost between the two.
struct RecordingStart {
  /// Why a file begins.
  enum Cause {
    /// The recording begins.
    case first
    /// The segment before is long enough.
    case segment
    /// The file before cannot follow: the first half of a sentence with its name.
    case change((String) -> String)
  }

  let since: Timestamp
  let cause: Cause
  /// The pictures of each track that has had a key frame; the frames from the key frame on are in `entries`.
  private(set) var pictures: [RecordingTrack.Number: RecordedPictures] = [:]
  private(set) var entries: [RecordingOrder.Entry] = []

  private static let mostEntries = 5_000

  init(since: Timestamp, cause: Cause) { (self.since, self.cause) = (since, cause) }

  /// Whether pictures of `track` belong here and no longer into the file before.
  func hasBegun(_ track: RecordingTrack.Number) -> Bool { pictures[track] != nil }

  mutating func keep(_ entry: RecordingOrder.Entry, _ header: RecordedPictures? = nil) {
    if let header, pictures[entry.track] == nil { pictures[entry.track] = header }
    entries.append(entry)
  }

  /// Whether the file may begin.
  /// - Parameter expected: the pictures that are to be in it.
  func isReady(
    at time: Timestamp, expected: some Sequence<RecordingTrack.Number>, _ patience: RecordingPatience
  ) -> Bool {
    let isComplete = expected.allSatisfy(hasBegun)
    return time - since >= (isComplete ? patience.settling : patience.pictures) || entries.count >= Self.mostEntries
  }
}
