import ArgumentParser

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Check what of this machine casting needs, and say what to do about the rest.",
    discussion: """
      ✓ works; ! works, but at a price; ✗ stands in the way of `rtcast screen`, which then also is the exit status: 0 when \
      casting works, 69 when not.

      Examples:
        rtcast doctor
        rtcast doctor --display :1
        rtcast doctor --json
      """)

  @Option(help: ArgumentHelp("X display. (default: $DISPLAY)", valueName: "name"))
  var display: String?

  @Flag(help: "One JSON object a line on standard output, one for each check.")
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
      Terminal.print(works ? "\nCasting works on this machine." : "\nCasting does not work yet; see the lines with ✗.")
    }
    if !works { throw ExitStatus.unavailable.code }
  }
}
