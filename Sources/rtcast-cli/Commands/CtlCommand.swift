import ArgumentParser
import Glibc
import RTCSignaling

struct CtlCommand: ParsableCommand {
  static let name = "ctl"

  static let configuration = CommandConfiguration(
    commandName: name,
    abstract: "Command a running cast, call or hub, or ask it how it goes.",
    discussion: """
      The cast, call or hub was started with --control unix:PATH, or unix:NAME for the socket \
      $XDG_RUNTIME_DIR/rtcast/NAME.sock. Where one such socket is in that folder, ctl finds it by itself.

      Commands: status, viewers, stop; source WORDS…, pause, resume, mute, unmute, bitrate RATE, fps N, hint HINT, keyframe \
      for casts; say TEXT, accept, reject, hangup for calls; revoke LINK for casts and hubs. docs/control.md describes them. \
      stop returns when the cast has ended.

      Examples:
        rtcast screen --control unix:talk
        rtcast ctl status
        rtcast ctl source file intro.mp4 --loop
        rtcast ctl --socket talk bitrate 2M
        rtcast ctl viewers --json
        rtcast ctl stop

      Exit status: 0 done; 64 an unknown command, or one that was refused; 69 nobody answers.
      """)

  @Option(
    help: ArgumentHelp(
      "The socket: a path, or the name of --control unix:NAME. (default: $RTCAST_CONTROL, or the only socket in "
        + "$XDG_RUNTIME_DIR/rtcast)", valueName: "path"))
  var socket: String?

  @Flag(help: "Print the answer as a JSON object; docs/json.md describes it.")
  var json = false

  @OptionGroup var sandbox: SandboxOptions

  @Argument(
    parsing: .captureForPassthrough,
    help: ArgumentHelp(
      "The command and its arguments. Options of ctl stand before it, or behind commands other than source and say.",
      valueName: "command"))
  var words: [String] = []

  func validate() throws {
    if let word = words.first, ["-h", "-help", "--help"].contains(word) { throw CleanExit.helpRequest(self) }
    guard !words.isEmpty else {
      throw ValidationError("Name a command: \(ControlCommand.names.joined(separator: ", ")).")
    }
  }

  func run() throws {
    guard let words = CtlWords(words) else { return }
    let isJSON = json || words.json
    do throws(CastFailure) {
      let line: String
      do throws(ControlError) { line = try words.line(from: Self.workingFolder) } catch {
        throw CastFailure(.usage, error.sentence)
      }
      var connection = try ControlConnection(to: Self.place(words.socket ?? socket))
      try show(connection.ask(line), isJSON: isJSON)
      if words.command == "stop" { try connection.waitForEnd() }
    } catch {
      if isJSON { OutputEvent.failed(error).print() }
      Terminal.complain(error.sentence)
      throw error.status.code
    }
    try Terminal.finish()
  }

  private func show(_ answer: String, isJSON: Bool) throws(CastFailure) {
    let event: JSONTree
    do throws(JSONError) { event = try JSONTree(parsing: answer.utf8) } catch {
      throw CastFailure(.unavailable, "What answers is no rtcast: \(error.problem).")
    }
    if let sentence = ControlText.refusal(in: event) { throw CastFailure(.usage, sentence) }
    if isJSON { return Terminal.print(answer) }
    for line in ControlText.lines(of: event, now: Int64(time(nil))) { Terminal.print(line) }
  }

  // MARK: - Which socket

  private static func place(_ named: String?) throws(CastFailure) -> ControlPath {
    let variable = getenv("RTCAST_CONTROL").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    do throws(ValidationError) {
      if let named { return try ControlPath(parsing: named, option: "--socket") }
      if let variable { return try ControlPath(parsing: variable, option: "RTCAST_CONTROL") }
    } catch {
      throw CastFailure(.usage, error.message)
    }
    var found = ControlPath.all()
    // If there are several sockets, those that dead programs left are ignored.
    if found.count > 1 { found = found.filter(\.isLive) }
    guard let only = found.first else {
      throw CastFailure(
        .unavailable,
        "No cast, call or hub takes commands in \(ControlPath.folder ?? "$XDG_RUNTIME_DIR/rtcast"). Start one with "
          + "--control unix:NAME, or name its socket with --socket.")
    }
    guard found.count == 1 else {
      let names = found.map(\.path).joined(separator: ", ")
      throw CastFailure(.usage, "There are several sockets; choose one with --socket: \(names).")
    }
    return only
  }

  private static var workingFolder: String {
    guard let folder = getcwd(nil, 0) else { return "." }
    defer { free(folder) }
    return String(cString: folder)
  }
}
