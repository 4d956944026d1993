import Glibc
import RTCNet
import RTCIsolation

/// A program that splits a launcher off, confines itself, and asks for what it was promised and for more. It writes a line for
/// each answer.
enum LauncherTrial {
  static func run(in folder: String) throws {
    var duties = LauncherDuties()
    duties.roles = [LauncherDuties.Role(name: "child", arguments: ["named"], environment: ["WORD=launcher"])]
    duties.outputs = [
      LauncherDuties.Output(path: folder + "/talk.mkv", flags: O_WRONLY, mode: 0o600, isNumbered: true)
    ]
    try Launcher.begin(duties)
    let sandbox = Sandbox.enter(SandboxRules())
    say("confined: \(sandbox.shortcoming ?? "whole")")
    say("left: \(Sandbox.tryAll().map(\.rawValue).joined(separator: ", "))")
    say("opened: \(open(folder + "/talk.mkv", O_WRONLY | O_CREAT, 0o600) >= 0)")
    try startChildren()
    createFiles(in: folder)
  }

  private static func startChildren() throws {
    let child = try start("child")
    var room: [UInt8] = []
    if case .message(let bytes, _) = child.socket.receive(into: &room) {
      say("child: \(String(decoding: bytes, as: UTF8.self))")
    }
    child.socket.shutDown()
    say("ended: \(child.end(within: 60_000))")
    let other = try start("child")
    other.kill()
    say("ended: \(other.end(within: 60_000))")
    say("hung: \(try start("child").end(within: 0))")
    do { _ = try start("stranger") } catch { say("stranger: \(error.errno == EACCES)") }
  }

  /// The program and the environment are the launcher's, whatever is asked for.
  private static func start(_ role: String) throws(SystemError) -> ChildProcess {
    try ChildProgram(executable: "/bin/false", arguments: [role, "unnamed"])
      .start(environment: ["WORD=program"], name: "The child")
  }

  private static func createFiles(in folder: String) {
    guard let launcher = Launcher.current else { return }
    func create(_ name: String) -> String {
      let file = launcher.create("\(folder)/\(name)")
      guard file >= 0 else { return "\(-file)" }
      defer { close(file) }
      return write(file, "x", 1) == 1 ? "written" : "\(errno)"
    }
    for name in ["talk.mkv", "talk.mkv", "talk-2.mkv", "talk-x.mkv", "other.mkv", "talk-2.mkv/../other.mkv"] {
      say("\(name): \(create(name))")
    }
    launcher.remove(folder + "/talk-2.mkv")
    launcher.remove(folder + "/kept.mkv")
  }

  /// The life of a child: it says what it was told, and ends when the other side does.
  static func beChild() -> Int32 {
    guard let socket = ParentConnection.open() else { return 64 }
    let words = CommandLine.arguments.dropFirst().joined(separator: " ")
    let word = getenv("WORD").map { String(cString: $0) } ?? ""
    socket.send(Array("\(words) \(word)".utf8), isPatient: true)
    var room: [UInt8] = []
    while case .message = socket.receive(into: &room) {}
    return 7
  }

  private static func say(_ text: String) {
    let line = text + "\n"
    _ = write(1, line, line.utf8.count)
  }
}
