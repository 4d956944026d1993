import ArgumentParser
import Glibc
import RTCEngine
import RTCast

struct RTCLogCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "rtc-log",
    abstract: "Draw a rate log, or replay it.",
    discussion: """
      With --rtc-log FILE, a cast or call records the feedback and the decisions behind its bitrates. This command draws \
      the record as an SVG picture, which any browser shows: rates, delays and losses of each viewer over time, and the \
      reason for each rate. --replay feeds the recorded feedback to a new estimator and reports whether its decisions are \
      the same.

      Examples:
        rtcast screen --rtc-log cast.jsonl
        rtcast rtc-log cast.jsonl
            draws cast.jsonl.svg
        rtcast rtc-log cast.jsonl --capacity 0:5M,20:600k,40:3M --output drop.svg
            with the known capacity of the network
        rtcast rtc-log cast.jsonl --replay

      Exit status: 0 done; 65 no line of the file can be used, or the decisions differ; 66 no such file; 73 the picture \
      cannot be written.
      """)

  @Argument(help: ArgumentHelp("Rate log written with --rtc-log; - is standard input.", valueName: "file"))
  var file: String

  @Option(
    name: [.short, .long],
    help: ArgumentHelp("Write the picture into this file; - is standard output. (default: FILE.svg)", valueName: "path")
  )
  var output: String?

  @Option(
    help: ArgumentHelp(
      "Draw or replay this viewer alone, by the beginning of its id. (default: all, the first 8 in a picture)",
      valueName: "id"))
  var viewer: String?

  @Option(
    help: ArgumentHelp(
      "Also draw the network's capacity, given as SECONDS:RATE from the viewer's start, such as 0:5M,20:600k.",
      valueName: "s:rate,…"),
    transform: { try RateChart.Schedule(text: $0) })
  var capacity: RateChart.Schedule?

  @Flag(help: "Draw nothing; feed the recorded feedback to a new estimator and compare its decisions.")
  var replay = false

  @OptionGroup var sandbox: SandboxOptions

  func validate() throws {
    if replay, output != nil || capacity != nil {
      throw ValidationError("--output and --capacity are for pictures, which --replay does not draw.")
    }
  }

  func run() async throws {
    do throws(CastFailure) {
      let reader = try read()
      for bad in reader.badLines { Terminal.complain("\(file), line \(bad.number): \(bad.problem.printable).") }
      let more = reader.badLineCount - reader.badLines.count
      if more > 0 { Terminal.complain("\(file): \(Figures.count(more, "more line")) cannot be used.") }
      let chosen = reader.connections.filter { $0.series.id.hasPrefix(viewer ?? "") }
      guard !chosen.isEmpty else {
        let name = viewer.map { "the viewer \($0)" } ?? "any viewer"
        throw CastFailure(.badData, "\(file) has no records of \(name); write one with `rtcast screen --rtc-log FILE`.")
      }
      if replay { try compare(chosen) } else { try draw(chosen) }
    } catch {
      Terminal.complain(error.sentence)
      throw error.status.code
    }
  }

  // MARK: - Reading

  private func read() throws(CastFailure) -> RateLogReader {
    let input = file == "-" ? STDIN_FILENO : open(file, O_RDONLY | O_CLOEXEC)
    guard input >= 0 else { throw Self.failure(.noInput, "\(file) cannot be read", errno) }
    defer { if file != "-" { close(input) } }
    var reader = RateLogReader()
    var part = [UInt8](repeating: 0, count: 1 << 18)
    while true {
      let count = Glibc.read(input, &part, part.count)
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw Self.failure(.noInput, "\(file) cannot be read", errno) }
      if count == 0 { break }
      reader.take(part[..<count])
    }
    reader.end()
    return reader
  }

  private static func failure(_ status: ExitStatus, _ beginning: String, _ reason: Int32) -> CastFailure {
    CastFailure(status, "\(beginning): \(String(cString: strerror(reason))).")
  }

  // MARK: - Drawing

  private static let mostInPicture = 8
  static let flags = O_WRONLY | O_TRUNC
  static let mode: mode_t = 0o644

  /// The file that is drawn into; nil: none, or standard output.
  var picture: String? {
    guard !replay else { return nil }
    let path = output ?? (file == "-" ? "-" : file + ".svg")
    return path == "-" ? nil : path
  }

  private func draw(_ chosen: [RateLogReader.Connection]) throws(CastFailure) {
    let svg = RateChart.svg(chosen.prefix(Self.mostInPicture).map(\.series), capacity: capacity)
    let path = picture ?? "-"
    let target = picture.map { NamedFile.create($0, Self.flags, mode: Self.mode) } ?? STDOUT_FILENO
    guard target >= 0 else { throw Self.failure(.cannotCreate, "\(path) cannot be written", -target) }
    defer { if path != "-" { close(target) } }
    if let reason = WholeFile.write(Array(svg.utf8), to: target) {
      throw Self.failure(.cannotCreate, "\(path) cannot be written", reason)
    }
    if path != "-" { Terminal.print(path) }
    let left = chosen.count - Self.mostInPicture
    if left > 0 { Terminal.complain("\(Figures.count(left, "more viewer")) not drawn; choose one with --viewer.") }
  }

  // MARK: - Replaying

  private func compare(_ chosen: [RateLogReader.Connection]) throws(CastFailure) {
    var isSame = true
    for connection in chosen {
      let replay = connection.replay
      let name = "Viewer \(connection.series.id.printable) (\(replay.algorithm.rawValue))"
      if let difference = replay.difference {
        isSame = false
        Terminal.print("\(name): the decisions differ, first at line \(difference.line).")
        Terminal.print("  recorded: \(Self.text(difference.recorded))")
        Terminal.print("  replayed: \(Self.text(difference.replayed))")
      } else if let gap = connection.gap {
        isSame = false
        Terminal.print(
          "\(name): the first \(replay.decisions) decisions are the same; from line \(gap) on the log has a gap.")
      } else {
        Terminal.print(
          "\(name): all \(Figures.count(replay.decisions, "decision")) are the same, from "
            + "\(Figures.count(replay.inputs, "input")).")
      }
    }
    if !isSame { throw CastFailure(.badData, "\(file) does not replay to the same decisions.") }
  }

  private static func text(_ entry: RateLogEntry?) -> String {
    guard let entry else { return "nothing" }
    return RateLogLine(time: .zero, connection: "", content: .entry(entry)).text
  }
}
