import CLinux
import Glibc
import RTCIsolation
public import RTCMedia
import RTCNet
import RTCPrimitives

/// The program that runs plugins in a process of their own: one whose main function calls `PluginHost.run()`.
public struct PluginHostProgram: Hashable, Sendable {
  /// The path of the program.
  public var executable: String
  /// The arguments on its command line, after its name.
  public var arguments: [String]

  /// The program at a path; nothing is started or checked yet.
  public init(executable: String, arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  /// This program, with `arguments` that make it a plugin's host.
  public static func thisProgram(arguments: [String]) -> PluginHostProgram {
    PluginHostProgram(executable: "/proc/self/exe", arguments: arguments)
  }

  /// Loads a plugin in a process of its own and asks for its description, so that its faults do not affect this
  /// process. Waits up to five seconds.
  public func describe(_ path: String) throws(CaptureError) -> PluginDescription {
    let child = try start()
    let socket = child.socket
    defer {
      socket.shutDown()
      _ = child.end(within: 200)
    }
    socket.setPatience(.seconds(5))
    socket.send(HostCommand.load(path: path, start: nil).bytes, isPatient: false)
    var room: [UInt8] = []
    while case .message(let bytes, let descriptor) = socket.receive(into: &room) {
      if let descriptor { close(descriptor) }
      switch HostEvent(parsing: bytes) {
      case .described(let description): return description
      case .failed(let error): throw error
      default: continue
      }
    }
    throw .unavailable("The plugin \(path) crashed or hung while it was loaded; its author can mend this.")
  }

  /// Starts the program with one end of a connection as its descriptor 3.
  func start() throws(CaptureError) -> ChildProcess {
    let program = ChildProgram(executable: executable, arguments: arguments)
    do throws(SystemError) {
      return try program.start(environment: PluginEnvironment.variables(), name: "The plugin's process")
    } catch {
      throw CaptureError(error)
    }
  }
}

/// The environment of a plugin's process: what programs need to find libraries, displays and words, by name. Secrets that this
/// program was given in its own (`RTCAST_TOKEN`, passwords of servers) stay here.
package enum PluginEnvironment {
  private static let names: Set = [
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "TZ", "LANG", "LANGUAGE", "TERM",
    "DISPLAY", "XAUTHORITY", "WAYLAND_DISPLAY", "PULSE_SERVER", "PULSE_COOKIE", "PIPEWIRE_REMOTE",
    "LD_LIBRARY_PATH", "LD_PRELOAD", "ASAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS",
  ]
  private static let prefixes = ["LC_", "XDG_"]

  /// The variables of this process that a plugin's gets, each as `NAME=value`.
  package static func variables() -> [String] {
    var result: [String] = []
    guard var place = unsafe clinux_environment() else { return [] }
    while let text = unsafe place.pointee {
      let variable = unsafe String(cString: text)
      if isPassedOn(variable.prefix { $0 != "=" }) { result.append(variable) }
      unsafe place += 1
    }
    return result
  }

  package static func isPassedOn(_ name: Substring) -> Bool {
    names.contains(String(name)) || prefixes.contains { name.hasPrefix($0) }
  }
}
