import Glibc
import ProcessKit
import RTCCapturePlugin
import Synchronization

/// Builds plugins with the C compiler of this machine, each once.
enum PluginWorkshop {
  private struct State {
    var folder: String?
    var built: [String: String] = [:]
  }

  struct Failure: Error { var sentence: String }

  private static let state = Mutex(State())

  static var root: String {
    #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/" + $1 }
  }

  /// The plugin that breaks a rule, built with `macros`. A macro that says nothing to it makes a library of its own, whose
  /// counts no other suite changes.
  static func breaker(_ macros: String...) throws -> String {
    try build("Tests/RTCCapturePluginTests/Plugins/breaker.c", macros.map { "-D\($0)" })
  }

  static func waves() throws -> String { try build("Snippets/plugin/waves.c", ["-O2"]) }

  /// The path of the library.
  static func build(_ source: String, _ flags: [String]) throws -> String {
    try state.withLock { state in
      let key = ([source] + flags).joined(separator: " ")
      if let path = state.built[key] { return path }
      let path = try folder(&state) + "/lib\(state.built.count).so"
      let include = root + "/Sources/CRTCastPlugin/include"
      let status = run(
        ["cc", "-std=gnu11", "-shared", "-fPIC", "-I", include] + flags
          + ["-o", path, root + "/" + source, "-lm", "-lpthread"])
      guard status == 0 else { throw Failure(sentence: "cc ended with \(status) for \(source)") }
      state.built[key] = path
      return path
    }
  }

  /// A folder that goes with the process.
  static func folder() throws -> String { try state.withLock { try folder(&$0) } }

  private static func folder(_ state: inout State) throws -> String {
    if let folder = state.folder { return folder }
    var template = Array("/tmp/rtcast-plugins.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(sentence: "no folder for plugins") }
    let path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    state.folder = path
    atexit { PluginWorkshop.clear() }
    return path
  }

  private static func clear() {
    guard let folder = state.withLock({ $0.folder }), let list = opendir(folder) else { return }
    while let entry = readdir(list) {
      withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { _ = unlink(folder + "/" + String(cString: $0)) }
      }
    }
    closedir(list)
    rmdir(folder)
  }

  /// Runs a program of the search path to its end.
  static func run(_ arguments: [String]) -> Int32 {
    guard let outcome = try? TestProcess(arguments, errors: .withOutput).outcome() else { return -1 }
    if outcome.status != 0 { print(outcome.text) }
    return outcome.status
  }

  /// A file with these bytes.
  static func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = try folder() + "/" + name
    let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    defer { close(file) }
    guard file >= 0, write(file, bytes, bytes.count) == bytes.count else {
      throw Failure(sentence: "cannot write \(path)")
    }
    return path
  }

  static func bytes(of path: String) -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 65536)
    while case let count = read(file, &part, part.count), count > 0 { bytes += part[..<count] }
    return bytes
  }

  /// The program that runs plugins in a process of their own, beside the one that runs the tests.
  static func host(_ arguments: String...) -> PluginHostProgram {
    var room = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &room, room.count)
    let path = String(decoding: room[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = path[..<(path.lastIndex(of: "/") ?? path.endIndex)]
    return PluginHostProgram(executable: folder + "/PluginHostProbe", arguments: arguments)
  }
}

/// The counts of the breaking plugin, in this process.
struct BreakerCounts {
  private let counts: UnsafePointer<Int64>
  private let mayGo: UnsafeMutablePointer<Int64>

  init(_ path: String) throws {
    guard let handle = dlopen(path, RTLD_NOW | RTLD_LOCAL), let symbol = dlsym(handle, "breaker_counts"),
      let gate = dlsym(handle, "breaker_may_go")
    else {
      throw PluginWorkshop.Failure(sentence: "no counts in \(path)")
    }
    counts = UnsafePointer(symbol.assumingMemoryBound(to: Int64.self))
    mayGo = gate.assumingMemoryBound(to: Int64.self)
  }

  /// Whether what was told to hang, in this process, goes on.
  var hangs: Bool {
    get { mayGo.pointee == 0 }
    nonmutating set { mayGo.pointee = newValue ? 0 : 1 }
  }

  var starts: Int64 { counts[0] }
  var halts: Int64 { counts[1] }
  var stops: Int64 { counts[2] }
  var taken: Int64 { counts[3] }
  var busy: Int64 { counts[4] }
  var stopped: Int64 { counts[5] }
  var refused: Int64 { counts[6] }
  var releases: Int64 { counts[7] }
  var callsAfterStop: Int64 { counts[8] }
  var mostOut: Int64 { counts[9] }
  var borrowed: Int64 { counts[10] }
}
