import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check this machine for what casting needs, and say how to fix what is missing.",
    discussion: """
      ✓ works; ! works with a limitation; ✗ `rtcast screen` cannot work. Exit status: 0, or 69 if there is a ✗.

      Examples:
        rtcast doctor
        rtcast doctor --display :1
        rtcast doctor --json
      """)

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Flag(help: "Print one JSON object per line on standard output, one for each check; docs/json.md describes it.")
  var json = false

  func run() throws {
    let checks =
      DisplayChecks(display: display).run() + SoundChecks.run() + CodecChecks.run() + NetworkChecks.run()
      + MachineChecks.run()
    let works = !checks.contains { $0.verdict == .fails }
    if json {
      for check in checks { Terminal.print(check.object.text) }
    } else {
      for check in checks { Terminal.print(check.lines) }
      Terminal.print(
        works
          ? "\n`rtcast screen` works on this machine."
          : "\n`rtcast screen` cannot work yet; see the lines marked ✗.")
    }
    if !works { throw ExitStatus.unavailable.code }
  }
}
