internal import RTCMedia
internal import RTCPrimitives

/// Sorts the frames of several tracks by their capture times.
struct RecordingOrder {
  struct Entry {
    enum Media {
      case picture(EncodedFrame)
      case sound(EncodedAudioFrame)
      case begin(RecordingTrack)
      case end
    }
    var media: Media
    var track: RecordingTrack.Number
    /// The entry's place in the order: the capture time, but never before the time of the track's entry before it.
    var time: Timestamp
    /// The number of entries that arrived before this one.
    fileprivate var arrival: UInt64
  }

  private var entries: [Entry] = []
  private var newest: [RecordingTrack.Number: Timestamp] = [:]
  private var arrivals: UInt64 = 0
  /// The number of entries that had arrived at the last `take`.
  private var mark: UInt64 = 0

  var isEmpty: Bool { entries.isEmpty }

  mutating func append(_ item: RecordingQueue.Item) {
    switch item {
    case .picture(let frame, let track): append(.picture(frame), at: frame.captureTime, track)
    case .sound(let frame, let track): append(.sound(frame), at: frame.captureTime, track)
    // After all that has come before it, and before what comes of it.
    case .began(let track): append(.begin(track), at: newest.values.max() ?? .zero, track.number)
    case .ended(let track):
      append(.end, at: .zero, track)
      newest[track] = nil
    }
  }

  private mutating func append(_ media: Entry.Media, at captured: Timestamp, _ track: RecordingTrack.Number) {
    let time = max(captured, newest[track] ?? captured)
    newest[track] = time
    entries.append(Entry(media: media, track: track, time: time, arrival: arrivals))
    arrivals += 1
  }

  /// Takes the entries that are in their final order: up to the time that all of `tracks` have reached, and up to the
  /// last entry that was already waiting at the last call. With `all`, takes every entry.
  mutating func take(all: Bool, tracks: some Collection<RecordingTrack.Number>) -> [Entry] {
    defer { mark = arrivals }
    guard !entries.isEmpty else { return [] }
    entries.sort { ($0.time, $0.arrival) < ($1.time, $1.arrival) }
    let waiting = entries.reduce(into: [RecordingTrack.Number: Timestamp]()) { $0[$1.track] = $1.time }
    let limit = tracks.map { waiting[$0] ?? .zero }.min() ?? .distantFuture
    let count = all ? entries.count : (entries.lastIndex { $0.time <= limit || $0.arrival < mark } ?? -1) + 1
    defer { entries.removeFirst(count) }
    return Array(entries[..<count])
  }
}
