/// Puts the packets of one pass through a file onto the media timeline, which goes on where the pass before ended.
/// Leaps of the file's own timestamps, as where broadcasts were joined, are closed.
///
/// What comes in is bounded (`MediaStream.nanoseconds`, `duration`), and so is the media timeline, so that no sum of both
/// overflows whatever a file says: each packet of a hostile file may move the timeline on.
package struct PacketTiming {
  /// Times of a file lie this far from zero at most: ten years.
  package static let latestTime: Int64 = 315_000_000_000_000_000
  /// Packets last this long at most: an hour.
  package static let longestDuration: Int64 = 3_600_000_000_000
  /// The media timeline ends here, after 95 years: later packets stay at its end.
  package static let latestMediaTime: Int64 = 3_000_000_000_000_000_000

  /// Media time minus file time, both in nanoseconds.
  private(set) var offset: Int64
  /// Beyond this the file's times are a mistake; nil when nobody knows.
  private let fileEnd: Int64?
  private let mayLeap: Bool
  /// Longer waits are mistakes where nobody knows when the file ends.
  private static let longestHole: Int64 = 3_600_000_000_000
  /// Times to be shown and decoded at lie further apart only where the file has a hole, or a mistake.
  private static let longestReordering: Int64 = 10_000_000_000
  private var tracks: [Int32: Track] = [:]
  /// The end of the last packet so far, on the media timeline.
  package private(set) var end: Int64
  /// The offset after the newest leap: the other stream will leap by as much.
  private var newestOffset: Int64

  private struct Track {
    var offset: Int64
    /// The expected decode time of the next packet, in media time.
    var expected: Int64
    var lastDecode: Int64
  }

  /// - Parameters:
  ///   - fileTime: where the pass begins, in the file's own nanoseconds.
  ///   - media: where that lies on the media timeline.
  package init(fileTime: Int64, media: Int64, fileEnd: Int64?, mayLeap: Bool) {
    let media = Self.bounded(media)
    offset = Self.bounded(media - fileTime)
    newestOffset = offset
    end = media
    self.fileEnd = fileEnd
    self.mayLeap = mayLeap
  }

  private static func bounded(_ media: Int64) -> Int64 { max(-latestMediaTime, min(latestMediaTime, media)) }

  package struct Place {
    package var time: Int64
    package var decodeTime: Int64
    /// The presentation time in the packet itself, on the media timeline; nil when the packet has none, or an
    /// impossible one.
    package var presentation: Int64?
    /// The difference between the media timeline and the file's own times, to be added to the times of this packet.
    package var offset: Int64
  }

  /// - Parameters:
  ///   - pts: within `latestTime` of zero, as is `dts`.
  ///   - duration: of the packet or an assumed one; 0…`longestDuration`.
  ///   - cut: how much of its end is not played; 0…`longestDuration`.
  package mutating func place(stream: Int32, pts: Int64?, dts: Int64?, duration: Int64, cut: Int64 = 0) -> Place {
    var track = tracks[stream] ?? firstTrack(beginningAt: dts ?? pts)
    if let reference = dts ?? pts, track.expected != .min {
      closeLeap(&track, reference, hasDecodeTime: dts != nil)
    }
    let guess = track.expected == .min ? end : track.expected
    let decode = (dts ?? pts).map { Self.bounded($0 + track.offset) } ?? guess
    let presentation = pts.flatMap { isPossible($0, besides: dts) ? Self.bounded($0 + track.offset) : nil }
    let time = presentation ?? dts.map { Self.bounded($0 + track.offset) } ?? guess
    track.lastDecode = max(track.lastDecode, decode)
    track.expected = Self.bounded(decode + duration)
    end = Self.bounded(max(end, time + (isPossible(duration, after: time - track.offset) ? duration : 0) - cut))
    tracks[stream] = track
    return Place(time: time, decodeTime: track.lastDecode, presentation: presentation, offset: track.offset)
  }

  private var longestLeap: Int64 { mayLeap ? 10_000_000_000 : fileEnd == nil ? Self.longestHole : .max }

  private func firstTrack(beginningAt reference: Int64?) -> Track {
    // A stream that begins after the end of everything: its first time is a mistake.
    let isBeyond = if let reference, let fileEnd { reference > fileEnd } else { false }
    return Track(offset: isBeyond ? Self.bounded(end - reference!) : newestOffset, expected: .min, lastDecode: .min)
  }

  /// A wrong time would have everybody wait until it comes.
  private func isPossible(_ pts: Int64, besides dts: Int64?) -> Bool {
    guard let dts, abs(pts - dts) > Self.longestReordering else { return true }
    return pts > dts && !mayLeap && fileEnd.map { pts <= $0 } ?? false
  }

  private func isPossible(_ duration: Int64, after fileTime: Int64) -> Bool {
    duration <= Self.longestReordering || fileEnd.map { fileTime + duration <= $0 } ?? (duration <= Self.longestHole)
  }

  private mutating func closeLeap(_ track: inout Track, _ reference: Int64, hasDecodeTime: Bool) {
    let ahead = reference + track.offset - track.expected
    // Decoding times never go back by themselves; where there are none, pictures out of order do.
    let isBack = ahead < (hasDecodeTime ? -200_000_000 : -1_000_000_000)
    let isForward = ahead > longestLeap || (fileEnd.map { reference > $0 } ?? false)
    guard isBack || isForward else { return }
    let joined = reference + newestOffset - track.expected
    // The other stream leapt already: with its offset both stay together.
    if newestOffset != track.offset, abs(joined) < 1_000_000_000 {
      track.offset = newestOffset
    } else {
      track.offset = Self.bounded(track.offset - ahead)
      newestOffset = track.offset
    }
  }
}
