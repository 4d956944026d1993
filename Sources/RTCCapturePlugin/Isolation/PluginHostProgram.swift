import CLinux
import Glibc
public import RTCMedia
import RTCNet
import RTCPrimitives

/// The program that runs plugins in a process of their own: one whose main function calls `PluginHost.run()`.
public struct PluginHostProgram: Hashable, Sendable {
  /// The path of the program.
  public var executable: String
  /// What the program is given on its command line, after its name.
  public var arguments: [String]

  /// The program at a path; nothing is started or checked yet.
  public init(executable: String, arguments: [String] = []) {
    self.executable = executable
    self.arguments = arguments
  }

  /// This very program, told by `arguments` to be a plugin's host.
  public static func thisProgram(arguments: [String]) -> PluginHostProgram {
    PluginHostProgram(executable: "/proc/self/exe", arguments: arguments)
  }

  /// Loads a plugin in a process of its own and asks it what it is: whatever it does there, nothing happens here. Waits
  /// up to five seconds for it.
  public func describe(_ path: String) throws(CaptureError) -> PluginDescription {
    let (process, socket) = try start()
    defer {
      socket.shutDown()
      _ = clinux_process_reap(process, 200)
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
  func start() throws(CaptureError) -> (process: Int32, socket: MessageSocket) {
    var ends: [Int32] = [-1, -1]
    let status = unsafe clinux_message_pair(&ends)
    guard status == 0 else {
      throw CaptureError(
        SystemError(errno: -status, call: "socketpair", subject: "A connection to the plugin's process"))
    }
    defer { close(ends[1]) }
    let socket = MessageSocket(ends[0])
    let texts = unsafe ([executable] + arguments).map { unsafe strdup($0) }
    defer { unsafe texts.forEach { unsafe free($0) } }
    let variables = unsafe PluginEnvironment.variables().map { unsafe strdup($0) }
    defer { unsafe variables.forEach { unsafe free($0) } }
    let process = unsafe (texts + [nil]).withUnsafeBufferPointer { texts in
      unsafe (variables + [nil]).withUnsafeBufferPointer { variables in
        unsafe clinux_process_start(executable, texts.baseAddress, variables.baseAddress, ends[1])
      }
    }
    guard process > 0 else {
      throw CaptureError(
        SystemError(errno: -process, call: "posix_spawn", subject: "The plugin's process (\(executable))"))
    }
    return (process, socket)
  }
}
