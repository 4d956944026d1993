internal import RTCMedia
internal import RTCPrimitives

/// How long a file waits for its tracks, by the times of what comes.
struct RecordingPatience {
  /// From the first frame on in any case: what comes together is announced one after the other.
  var settling: TimeDelta
  /// For pictures without a key frame so far.
  var pictures: TimeDelta

  /// All tracks are known.
  static let none = RecordingPatience(settling: .zero, pictures: .zero)
  static let ofCalls = RecordingPatience(settling: .seconds(1), pictures: .milliseconds(2500))
}

/// The beginning of a file: kept in memory until it is known which tracks the file is to have. What belongs into the file
/// before goes on there meanwhile, so that nothing is lost between the two.
struct RecordingStart {
  let since: Timestamp
  /// Why it is begun, as the first half of a sentence with the name of the file before.
  let reason: (String) -> String
  /// Of the tracks that a key frame has come of: their frames from there on are in `entries`.
  private(set) var pictures: [RecordingTrack.Number: RecordedPictures] = [:]
  private(set) var entries: [RecordingOrder.Entry] = []

  private static let mostEntries = 5_000

  init(since: Timestamp, reason: @escaping (String) -> String) { (self.since, self.reason) = (since, reason) }

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
