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
