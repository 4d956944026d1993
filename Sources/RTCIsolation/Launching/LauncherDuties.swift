import Glibc

/// The duties of a launcher, fixed before its program confines itself: it does nothing else.
package struct LauncherDuties: Sendable {
  /// A way in which the launcher may start this very program.
  package struct Role: Sendable {
    /// The first word of the role's command line, by which the program asks for it.
    package var name: String
    /// The words after the first one.
    package var arguments: [String]
    /// The whole environment of the role, each variable as `NAME=value`.
    package var environment: [String]

    package init(name: String, arguments: [String] = [], environment: [String]) {
      (self.name, self.arguments, self.environment) = (name, arguments, environment)
    }
  }

  /// A file that the launcher may create for the program.
  package struct Output: Sendable {
    package var path: String
    /// The flags for `open`.
    package var flags: Int32
    package var mode: mode_t
    /// Whether further files of that name may follow: NAME-2.mkv, NAME-3.mkv … A further file that is not empty is
    /// refused.
    package var isNumbered: Bool
    /// Whether only numbered files are created, of which the program removes old ones, also those of runs before.
    package var isSeries: Bool

    package init(path: String, flags: Int32, mode: mode_t, isNumbered: Bool = false, isSeries: Bool = false) {
      (self.path, self.flags, self.mode) = (path, flags, mode)
      (self.isNumbered, self.isSeries) = (isNumbered || isSeries, isSeries)
    }

    /// Whether `path` is this file, or one that may follow it.
    package func covers(_ path: String) -> Bool {
      if path == self.path { return !isSeries }
      return isNumbered && NumberedFiles(following: self.path)?.number(of: path) != nil
    }
  }

  package var roles: [Role] = []
  package var outputs: [Output] = []
  /// The file with the keys of displays, which the launcher opens for reading.
  package var keys: FileChoice?

  package init() {}
  package var isEmpty: Bool { roles.isEmpty && outputs.isEmpty && keys == nil }
}
