internal import RTCPrimitives

/// Puts the packets of one pass through a file onto the media timeline, which goes on where the pass before ended.
/// Leaps of the file's own timestamps, as where broadcasts were joined, are closed.
struct PacketTiming {
  /// Media time minus file time, both in nanoseconds.
  private(set) var offset: Int64
  /// Beyond this the file's times are a mistake; nil when nobody knows.
  private let fileEnd: Int64?
  private let mayLeap: Bool
  private var tracks: [Int32: Track] = [:]
  /// The end of the last packet so far, on the media timeline.
  private(set) var end: Int64
  /// The offset after the newest leap: the other stream will leap by as much.
  private var newestOffset: Int64

  private struct Track {
    var offset: Int64
    /// When the next packet is expected to be decoded, in media time.
    var expected: Int64
    var lastDecode: Int64
  }

  /// - Parameters:
  ///   - fileTime: where the pass begins, in the file's own nanoseconds.
  ///   - media: where that lies on the media timeline.
  init(fileTime: Int64, media: Int64, fileEnd: Int64?, mayLeap: Bool) {
    offset = media - fileTime
    newestOffset = offset
    end = media
    self.fileEnd = fileEnd
    self.mayLeap = mayLeap
  }

  struct Place {
    var time: Int64
    var decodeTime: Int64
    /// What is to be added to the file's own times of this packet.
    var offset: Int64
  }

  /// - Parameters:
  ///   - duration: of the packet or an assumed one.
  ///   - cut: how much of its end is not played.
  mutating func place(stream: Int32, pts: Int64?, dts: Int64?, duration: Int64, cut: Int64 = 0) -> Place {
    var track = tracks[stream] ?? Track(offset: newestOffset, expected: .min, lastDecode: .min)
    if let reference = dts ?? pts, track.expected != .min {
      closeLeap(&track, reference, hasDecodeTime: dts != nil)
    }
    let guess = track.expected == .min ? end : track.expected
    let decode = (dts ?? pts).map { $0 + track.offset } ?? guess
    let time = (pts ?? dts).map { $0 + track.offset } ?? guess
    track.lastDecode = max(track.lastDecode, decode)
    track.expected = decode + duration
    end = max(end, time + duration - cut)
    tracks[stream] = track
    return Place(time: time, decodeTime: track.lastDecode, offset: track.offset)
  }

  private mutating func closeLeap(_ track: inout Track, _ reference: Int64, hasDecodeTime: Bool) {
    let ahead = reference + track.offset - track.expected
    // Decoding times never go back by themselves; where there are none, pictures out of order do.
    let isBack = ahead < (hasDecodeTime ? -200_000_000 : -1_000_000_000)
    let isForward = ahead > (mayLeap ? 10_000_000_000 : .max) || (fileEnd.map { reference > $0 } ?? false)
    guard isBack || isForward else { return }
    let joined = reference + newestOffset - track.expected
    // The other stream leapt already: with its offset both stay together.
    if newestOffset != track.offset, abs(joined) < 1_000_000_000 {
      track.offset = newestOffset
    } else {
      track.offset -= ahead
      newestOffset = track.offset
    }
  }
}
