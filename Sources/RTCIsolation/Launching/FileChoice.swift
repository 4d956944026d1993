import Glibc

/// A file that the launcher opens for the program, under a name that changes from login to login: the keys of displays.
package struct FileChoice: Sendable {
  /// Files in a folder whose names begin so.
  package struct Pattern: Sendable {
    package var folder: String
    package var beginning: String

    package init(folder: String, beginning: String) { (self.folder, self.beginning) = (folder, beginning) }
  }

  /// The file to open while it is there.
  package var first: String?
  /// Otherwise the newest of these that belongs to this user.
  package var others: [Pattern]

  package init(first: String?, others: [Pattern]) { (self.first, self.others) = (first, others) }

  /// Opens the file for reading.
  /// - Returns: a descriptor, or the negated errno.
  package func open() -> Int32 {
    if let first, case let file = Self.open(first), file >= 0 { return file }
    let found = others.flatMap(Self.files).max { $0.changed < $1.changed }
    guard let found else { return -ENOENT }
    return Self.open(found.path)
  }

  private static func open(_ path: String) -> Int32 {
    let file = unsafe Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
    guard file >= 0 else { return -errno }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      close(file)
      return -EINVAL
    }
    return file
  }

  private static func files(of pattern: Pattern) -> [(path: String, changed: Int64)] {
    guard let list = unsafe opendir(pattern.folder) else { return [] }
    defer { unsafe closedir(list) }
    var found: [(path: String, changed: Int64)] = []
    while let entry = unsafe readdir(list) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      guard name.hasPrefix(pattern.beginning) else { continue }
      let path = "\(pattern.folder)/\(name)"
      var status = stat()
      // Empty files are locks beside others.
      guard unsafe lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(),
        status.st_size > 0
      else { continue }
      found.append((path, Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec)))
    }
    return found
  }
}
