package import RTCPrimitives

/// The division of a recording into files of about the same length, each of which plays alone. Each begins with a key frame.
package struct RecordingSegments: Hashable, Sendable {
  /// The length of a file. It ends at the first key frame after that, which is asked for.
  package var duration: TimeDelta
  /// The number of files that are kept, with the one being written; nil: all. Older ones are removed.
  package var keep: Int?

  package init(duration: TimeDelta, keep: Int? = nil) { (self.duration, self.keep) = (duration, keep) }
}

/// The names of a recording's files: NAME.mkv, NAME-2.mkv and so on, or of segments NAME-0001.mkv and so on.
struct RecordingNames {
  /// The path that the user has named.
  let path: String
  let isSeries: Bool

  func path(_ number: Int) -> String {
    if number == 1, !isSeries { return path }
    let dot = path.lastIndex(of: ".") ?? path.endIndex
    let text = String(number)
    let zeros = isSeries ? String(repeating: "0", count: max(0, 4 - text.count)) : ""
    return "\(path[..<dot])-\(zeros)\(text)\(path[dot...])"
  }

  /// The search for old segments ends after a gap of this many missing files.
  static let longestGap = 100
}
