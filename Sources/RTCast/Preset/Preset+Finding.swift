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
    if nameOrPath.utf8.contains(UInt8(ascii: "/")) || nameOrPath.hasSuffix(".json") {
      guard let preset = try load(nameOrPath) else {
        throw PresetError(kind: .notFound, sentence: "There is no preset file \(nameOrPath).")
      }
      return preset
    }
    guard isName(nameOrPath) else {
      throw PresetError(
        kind: .notFound,
        sentence: "A preset's name is made of letters, digits, - and _; '\(nameOrPath.prefix(40))' is none.")
    }
    if let builtIn = BuiltInPresets.all.first(where: { $0.name == nameOrPath }) {
      return try Preset(json: builtIn.json.utf8, file: "\(nameOrPath) (built in)")
    }
    for folder in searchPath {
      if let preset = try load("\(folder)/\(nameOrPath).json") { return preset }
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

  /// Nil when there is no such file.
  private static func load(_ path: String) throws(PresetError) -> Preset? {
    func unreadable(_ why: String) -> PresetError {
      PresetError(kind: .unreadable, sentence: "The preset \(path) cannot be read: \(why).")
    }
    // Non-blocking, so that a named pipe is found out and not waited for.
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard file >= 0 else {
      if errno == ENOENT || errno == ENOTDIR { return nil }
      throw unreadable(unsafe String(cString: strerror(errno)))
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
    return try Preset(json: bytes[..<count], file: path)
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
