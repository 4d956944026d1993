import ArgumentParser

/// The display of `rtcast run`.
struct StageOptions: ParsableArguments {
  @Option(
    name: .customLong("display-server"),
    help: ArgumentHelp(
      "The X server to start: xvfb; xorg-dummy, whose size xrandr can change; or tigervnc.", valueName: "server"))
  var displayServer: DisplayServer = .xvfb

  @Option(
    name: .customLong("window-manager"),
    help: ArgumentHelp("A window manager to start, as a shell would. (default: none)", valueName: "command"))
  var windowManager: String?

  @Flag(name: .customLong("serve"), help: "Serve viewers also with --record, and print the link.")
  var serves = false

  @Flag(name: .customLong("no-cursor"), help: "Show no pointer, in the picture and on the viewer page.")
  var hidesCursor = false
}
