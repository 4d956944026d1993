import Glibc
internal import RTCIsolation

/// How the files of a recording are created and removed: a program that has given up the right to do so asks another for it.
package struct RecordingFiles: Sendable {
  /// Creates the file with `flags`, or opens the one that is there.
  /// - Returns: a descriptor that is the caller's to close, or the negated errno.
  package var create: @Sendable (_ path: String) -> Int32
  /// Removes a file that `create` has opened, or an old one of a recording in segments. False if it is not there.
  package var remove: @Sendable (_ path: String) -> Bool
  /// The highest number of the segments that are there, by the path of the recording; 0: none.
  package var newest: @Sendable (_ path: String) -> Int

  package init(
    create: @escaping @Sendable (String) -> Int32, remove: @escaping @Sendable (String) -> Bool,
    newest: @escaping @Sendable (String) -> Int
  ) {
    (self.create, self.remove, self.newest) = (create, remove, newest)
  }

  /// The flags with which `open` creates a recording, besides O_CREAT.
  package static let flags = O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW
  /// For this user alone.
  package static let mode: UInt32 = 0o600

  /// By this process.
  package static let direct = RecordingFiles(
    create: { path in
      let file = open(path, flags | O_CREAT, mode)
      return file >= 0 ? file : -errno
    },
    remove: { path in unlink(path) == 0 }, newest: { path in NumberedFiles(following: path)?.newest ?? 0 })
}
