import Glibc
import RTCPrimitives

/// The private folder of a run: the key of its display, the socket of its sound server, logs.
struct RunFolder: Sendable {
  let path: String

  /// The file of keys (XAUTHORITY).
  var key: String { path + "/Xauthority" }
  var soundSocket: String { path + "/sound" }
  var soundServer: String { "unix:" + soundSocket }
  var displayConfiguration: String { path + "/xorg.conf" }
  var displayLog: String { path + "/display.log" }
  var otherLog: String { path + "/other.log" }

  /// Makes a folder that this user alone may enter, with a new key in it.
  init() throws(CastFailure) {
    // The socket's path has to fit into an address.
    let place = ["XDG_RUNTIME_DIR", "TMPDIR"].lazy.compactMap(Self.usable).first ?? "/tmp"
    var template = Array("\(place)/rtcast-run-XXXXXX".utf8CString)
    guard let made = mkdtemp(&template) else {
      throw CastFailure(
        .cannotCreate,
        "A folder for the display's key cannot be made in \(place): \(String(cString: strerror(errno))). Set TMPDIR to "
          + "a folder that you may write to.")
    }
    path = String(cString: made)
    try write(Self.keyFile(), to: key)
  }

  /// The folder that a variable names, if files can be made in it.
  private static func usable(_ variable: String) -> String? {
    guard let value = getenv(variable) else { return nil }
    let path = String(cString: value)
    return path.hasPrefix("/") && path.utf8.count < 70 && access(path, W_OK) == 0 ? path : nil
  }

  func write(_ bytes: [UInt8], to file: String) throws(CastFailure) {
    let descriptor = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    let count = descriptor < 0 ? -1 : Glibc.write(descriptor, bytes, bytes.count)
    let reason = errno
    if descriptor >= 0 { close(descriptor) }
    guard count == bytes.count else {
      throw CastFailure(.cannotCreate, "\(file) cannot be written: \(String(cString: strerror(reason))).")
    }
  }

  /// A file as `xauth` writes it, with a random key for every display of every machine: the display's number is not
  /// known yet, and only programs that may read the file have the key.
  private static func keyFile() -> [UInt8] {
    func counted(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count >> 8), UInt8(bytes.count & 0xFF)] + bytes }
    var generator = SystemRandomNumberGenerator()
    let key = (0..<16).map { _ in UInt8.random(in: 0...255, using: &generator) }
    let anyAddress: [UInt8] = [0xFF, 0xFF]
    return anyAddress + counted([]) + counted([]) + counted(Array("MIT-MAGIC-COOKIE-1".utf8)) + counted(key)
  }

  /// Removes the folder and all files in it. Links are not followed.
  func remove() { Self.remove(path) }

  private static func remove(_ folder: String) {
    guard let list = opendir(folder) else { return }
    var names: [(name: String, isFolder: Bool)] = []
    while let entry = readdir(list) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { name in
        name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append((name, Int(entry.pointee.d_type) == DT_DIR)) }
    }
    closedir(list)
    for (name, isFolder) in names {
      if isFolder { remove("\(folder)/\(name)") } else { unlink("\(folder)/\(name)") }
    }
    rmdir(folder)
  }

  /// The last lines of the display's own messages, for a person; empty: none.
  var displayComplaint: String {
    let file = open(displayLog, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return "" }
    defer { close(file) }
    let length = lseek(file, 0, Int32(SEEK_END))
    lseek(file, max(0, length - 600), Int32(SEEK_SET))
    let bytes = [UInt8](unsafeUninitializedCapacity: 600) { buffer, count in
      count = max(0, read(file, buffer.baseAddress, buffer.count))
    }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").filter { !$0.allSatisfy(\.isWhitespace) }
    return lines.suffix(3).joined(separator: " ").foreignText(limit: 300)
  }
}
