import Glibc

/// Small files, read and written in one go.
enum WholeFile {
  /// - Parameters:
  ///   - limit: more bytes than that are refused.
  ///   - what: how a sentence about it begins.
  static func read(_ path: String, limit: Int, what: String) throws(CastFailure) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw failure("\(what) \(path) cannot be read", errno) }
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = Glibc.read(file, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("\(what) \(path) cannot be read", errno) }
      if count == 0 { return bytes }
      bytes += part[..<count]
      guard bytes.count <= limit else { throw CastFailure(.noInput, "\(what) \(path) is larger than \(limit) bytes.") }
    }
  }

  /// Reads a file with secrets; warns if other users can read it.
  static func readSecret(_ path: String, limit: Int, what: String) throws(CastFailure) -> [UInt8] {
    let bytes = try read(path, limit: limit, what: what)
    if let warning = exposure(of: path, what: what) { Terminal.complain(warning, isWarning: true) }
    return bytes
  }

  /// A sentence when others than its owner may read a file; nil for pipes and devices.
  static func exposure(of path: String, what: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return nil }
    let mode = String(status.st_mode & 0o777, radix: 8)
    return "Warning: \(what) \(path) can be read by other users (mode \(mode)); run: chmod 600 \(path)"
  }

  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

  /// Writes a file that only this user can read; atomically.
  static func writeSecretly(_ bytes: [UInt8], to path: String) throws(CastFailure) {
    let draft = "\(path).\(getpid())"
    let file = open(draft, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw failure("\(path) cannot be written", errno) }
    if let reason = write(bytes, to: file) {
      close(file)
      unlink(draft)
      throw failure("\(path) cannot be written", reason)
    }
    let isDone = fchmod(file, 0o600) == 0 && fsync(file) == 0 && close(file) == 0 && rename(draft, path) == 0
    guard isDone else { throw failure("\(path) cannot be written", errno) }
  }

  /// - Returns: the error number when not all of it could be written.
  static func write(_ bytes: [UInt8], to file: Int32) -> Int32? {
    var start = 0
    while start < bytes.count {
      let count = bytes[start...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return count == 0 ? EIO : errno }
      start += count
    }
    return nil
  }

  /// Makes a folder and its parents; new folders are accessible to this user only.
  static func makeFolder(_ path: String) throws(CastFailure) {
    var made = ""
    for part in path.split(separator: "/") {
      made += "/" + part
      guard mkdir(made, 0o700) == 0 || errno == EEXIST else {
        let reason = String(cString: strerror(errno))
        throw CastFailure(
          .cannotCreate,
          "The folder \(made) cannot be made: \(reason). Set XDG_STATE_HOME to a folder that can be written.")
      }
    }
  }

  private static func failure(_ beginning: String, _ reason: Int32) -> CastFailure {
    let status: ExitStatus =
      switch reason {
      case EACCES, EPERM, EROFS: .notPermitted
      case ENOENT, ENOTDIR, EISDIR: .noInput
      default: .unavailable
      }
    return CastFailure(status, "\(beginning): \(String(cString: strerror(reason))).")
  }
}
