import Synchronization

/// The version of the program.
enum ProgramVersion {
  /// The release; CHANGELOG.md describes it.
  static let release = "0.1.0"
  /// Set once, before anything else runs.
  private static let commit = Mutex("")

  /// Sets the commit that the program was built from.
  /// - Parameter text: begins with the commit's hash; empty if unknown.
  static func tell(commit text: String) {
    commit.withLock { $0 = String(text.prefix { $0.isHexDigit }.prefix(9)) }
  }

  /// The text of `--version`: the release, and the commit if it is known.
  static var text: String {
    let commit = commit.withLock { $0 }
    return "rtcast \(release)" + (commit.isEmpty ? "" : " (\(commit))")
  }
}
