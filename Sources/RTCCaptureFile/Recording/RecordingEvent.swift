/// Why a recording could not begin.
public enum RecordingError: Error, Hashable, Sendable {
  /// The file's name says no container we write.
  case unknownContainer(String)
  /// The container cannot hold the codec.
  case unsupportedCodec(String)
  case noSuchFolder(String)
  case notPermitted(String)
  /// There is a file of that name.
  case alreadyExists(String)
  /// Whatever else the system says no with.
  case unavailable(String)

  /// For the person who asked for it: what is wrong and what to do next.
  public var sentence: String {
    switch self {
    case .unknownContainer(let s), .unsupportedCodec(let s), .noSuchFolder(let s), .notPermitted(let s),
      .alreadyExists(let s), .unavailable(let s):
      s
    }
  }
}

/// An event of a running recording.
public enum RecordingEvent: Hashable, Sendable {
  /// The first key frame has arrived.
  case started(path: String)
  /// The pictures changed in a way that the file cannot follow, or a track was added. The file is complete, and another
  /// one continues the recording.
  case continued(path: String, sentence: String)
  /// A segment is complete, and another file follows.
  case segmentCompleted(path: String, bytes: Int64)
  /// The file cannot hold these pictures: they are left out, and the rest goes on.
  case leftOut(sentence: String)
  /// The disk was too slow: pictures are missing up to the next key frame.
  case fellBehind(sentence: String)
  /// The file cannot be written any more. Said once; what comes later is not recorded.
  case failed(sentence: String)
}

/// How far a recording has come.
public struct RecordingProgress: Hashable, Sendable {
  /// The file written now.
  public var path: String
  /// Bytes of that file that would play if the program ended now.
  public var safeBytes: Int64 = 0
  /// The time they play for, in nanoseconds.
  public var safeNanoseconds: Int64 = 0
  /// Pictures of that file, of all its tracks.
  public var pictures: Int = 0
  /// Segments that were completed before that file.
  public var segmentsBefore: Int = 0
}
