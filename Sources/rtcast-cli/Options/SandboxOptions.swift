import ArgumentParser

/// `--no-sandbox`, which all commands share.
struct SandboxOptions: ParsableArguments {
  @Flag(
    name: .customLong("no-sandbox"),
    help: "Do not confine this process: for debuggers, and plugins that need more than a cast.")
  var isOff = false
}
