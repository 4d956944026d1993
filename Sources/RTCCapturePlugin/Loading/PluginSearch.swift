import Glibc
public import RTCMedia

/// Plugins by name, in the folders of a search path.
public struct PluginSearch: Sendable {
  /// A library in one of the folders.
  public struct Found: Sendable {
    /// As `rtcast plugin NAME` takes it: the file's name without `lib` and `.so`.
    public var name: String
    /// The path of the library: a folder of the search path and the file's name.
    public var path: String
  }

  /// The variable that holds the search path.
  public static let variable = "RTCAST_PLUGIN_PATH"

  /// The folders to search, in order.
  public let folders: [String]

  /// - Parameter path: folders with colons between them.
  public init(path: String) { folders = path.split(separator: ":").map(String.init) }

  /// The folders of `RTCAST_PLUGIN_PATH`; none when it is not set.
  public static var ofEnvironment: PluginSearch {
    unsafe PluginSearch(path: getenv(variable).map { unsafe String(cString: $0) } ?? "")
  }

  /// Every library in the folders, by folder and name; where two have the same name, the first is taken. Loads nothing.
  public func plugins() -> [Found] {
    var names: Set<String> = []
    return folders.flatMap { folder in
      Self.files(in: folder).compactMap { file -> Found? in
        guard let name = Self.name(of: file), names.insert(name).inserted else { return nil }
        return Found(name: name, path: "\(folder)/\(file)")
      }
    }
  }

  /// The path of a library: `text` itself if it has a slash, else the result of a search by name. Never a file of the
  /// working folder, which may belong to another user.
  public func path(of text: String) throws(CaptureError) -> String {
    if text.contains("/") { return text }
    if let found = plugins().first(where: { $0.name == text }) { return found.path }
    let place =
      folders.isEmpty
      ? "\(Self.variable) names no folders to search" : "none is in \(folders.joined(separator: ", "))"
    // The file's name without its path is no name of a plugin.
    let example = text.hasSuffix(".so") ? text : "lib\(text).so"
    throw .noSuchSource("There is no plugin \(text): \(place). Give the path of the library, such as ./\(example).")
  }

  private static func name(of file: String) -> String? {
    guard file.hasSuffix(".so") else { return nil }
    let stem = file.dropLast(3)
    let name = stem.hasPrefix("lib") ? stem.dropFirst(3) : stem
    return name.isEmpty ? nil : String(name)
  }

  private static func files(in folder: String) -> [String] {
    guard let list = unsafe opendir(folder) else { return [] }
    defer { unsafe closedir(list) }
    var files: [String] = []
    while let entry = unsafe readdir(list) {
      unsafe withUnsafePointer(to: &entry.pointee.d_name) { name in
        unsafe name.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe files.append(String(cString: $0)) }
      }
    }
    return files.sorted()
  }
}
