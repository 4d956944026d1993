import ArgumentParser
import RTCPrimitives

/// `rtcast` without arguments on a terminal: what can be cast here, and the command for each.
struct OverviewCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "overview", abstract: "Show what can be cast here.", shouldDisplay: false)

  /// The longest wait for the display, the sound server and the cameras together. A person who typed seven letters waits for
  /// nothing longer.
  private static let patience = TimeDelta.milliseconds(120)

  @OptionGroup var sandbox: SandboxOptions

  /// Whether these arguments, without the program's name, ask for the overview.
  static func isMeant(by arguments: [String]) -> Bool { arguments.isEmpty && Terminal.isInteractive }

  func run() throws {
    let overview = OverviewSearch.find(within: Self.patience)
    for line in overview.lines(columns: Terminal.size.columns) {
      Terminal.print(line.text, bold: line.command)
    }
    try Terminal.finish()
  }
}

extension OverviewCommand: ConfinedCommand {
  func state(_ needs: inout SandboxNeeds) {
    needs.usesDisplay = true
    needs.usesSound = true
    needs.usesCameras = true
  }
}
