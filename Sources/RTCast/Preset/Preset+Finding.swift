import Glibc

extension Preset {
  /// The folders of presets that are not built in, in search order: those of `$RTCAST_PRESET_PATH` (separated by
  /// colons) and `../share/rtcast/presets` beside the program. Never the working folder, which may belong to somebody
  /// else.
  public static var searchPath: [String] {
    let own = unsafe getenv("RTCAST_PRESET_PATH").map { unsafe String(cString: $0) } ?? ""
    var folders = own.split(separator: ":").map(String.init)
    if let program = programFolder { folders.append(program + "/../share/rtcast/presets") }
    return folders
  }

  /// The names of the presets that come with this library.
  public static var builtInNames: [String] { BuiltInPresets.all.map(\.name) }

  /// Returns the preset of a name, or of a path: a text that has a slash or ends with `.json`. A built-in name always
  /// means the built-in preset.
  public static func find(_ nameOrPath: String, in searchPath: [String] = searchPath) throws(PresetError) -> Preset {
    let (json, file) = try text(of: nameOrPath, in: searchPath)
    return try Preset(json: json, file: file)
  }

  /// The JSON text of a preset, found as `find` does, and its path or name for the sentences of errors.
  package static func text(
    of nameOrPath: String, in searchPath: [String] = searchPath
  ) throws(PresetError) -> (json: [UInt8], file: String) {
    if nameOrPath.utf8.contains(UInt8(ascii: "/")) || nameOrPath.hasSuffix(".json") {
      guard let json = try load(nameOrPath) else {
        throw PresetError(kind: .notFound, sentence: "There is no preset file \(nameOrPath).")
      }
      return (json, nameOrPath)
    }
    guard isName(nameOrPath) else {
      throw PresetError(
        kind: .notFound,
        sentence: "A preset's name is made of letters, digits, - and _; '\(nameOrPath.prefix(40))' is none.")
    }
    if let builtIn = BuiltInPresets.all.first(where: { $0.name == nameOrPath }) {
      return (Array(builtIn.json.utf8), "\(nameOrPath) (built in)")
    }
    for folder in searchPath {
      let path = "\(folder)/\(nameOrPath).json"
      if let json = try load(path) { return (json, path) }
    }
    let folders = searchPath.isEmpty ? "" : ", those in \(searchPath.joined(separator: ", "))"
    throw PresetError(
      kind: .notFound,
      sentence:
        "There is no preset \(nameOrPath); there are \(builtInNames.joined(separator: ", "))\(folders), and any "
        + "file by its path.")
  }

  private static func isName(_ text: String) -> Bool {
    (1...100).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
          || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
      }
  }

  private static func load(_ path: String) throws(PresetError) -> [UInt8]? {
    try bytes(of: path, called: "preset \(path)")
  }

  /// The bytes of a file of settings; nil when there is no such file.
  /// - Parameter called: what the sentences of errors call the file.
  package static func bytes(of path: String, called: String) throws(PresetError) -> [UInt8]? {
    func unreadable(_ why: String) -> PresetError {
      PresetError(kind: .unreadable, sentence: "The \(called) cannot be read: \(why).")
    }
    // Non-blocking, so that a named pipe is found out and not waited for.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      let error = errno
      if error == ENOENT || error == ENOTDIR { return nil }
      // In a folder of somebody else, such as the home folder that `su` leaves in HOME, no file can be found.
      if error == EACCES, unsafe access(path, F_OK) != 0 { return nil }
      throw unreadable(unsafe String(cString: strerror(error)))
    }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw unreadable("it is no ordinary file")
    }
    guard status.st_size <= longestFile else { throw unreadable("it is larger than \(longestFile / 1024) KiB") }
    var bytes = [UInt8](repeating: 0, count: longestFile)
    var count = 0
    while count < bytes.count {
      // The array is not touched by others during the call, and the count fits it.
      let more = unsafe bytes.withUnsafeMutableBytes { unsafe read(file, $0.baseAddress! + count, $0.count - count) }
      if more < 0 { throw unreadable(unsafe String(cString: strerror(errno))) }
      if more == 0 { break }
      count += more
    }
    return Array(bytes[..<count])
  }

  private static let longestFile = 64 * 1024

  private static var programFolder: String? {
    var bytes = [UInt8](repeating: 0, count: 4_096)
    let count = unsafe bytes.withUnsafeMutableBytes {
      unsafe readlink("/proc/self/exe", $0.baseAddress!.assumingMemoryBound(to: CChar.self), $0.count)
    }
    guard count > 0, count < bytes.count, let slash = bytes[..<count].lastIndex(of: UInt8(ascii: "/")) else {
      return nil
    }
    return String(decoding: bytes[..<slash], as: UTF8.self)
  }
}
