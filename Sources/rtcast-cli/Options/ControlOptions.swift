package import ArgumentParser

/// `--control`, which casts, calls and the hub share.
package struct ControlOptions: ParsableArguments {
  package init() {}

  @Option(
    name: .customLong("control"),
    help: ArgumentHelp(
      "Take commands, one JSON object per line, such as {\"command\": \"pause\"}; docs/control.md describes them. They come "
        + "from standard input with --control alone, and from clients of a Unix socket with --control unix:PATH, or "
        + "unix:NAME for a socket that `rtcast ctl` finds by itself. Both may be given.",
      valueName: "unix:path"),
    transform: { try ControlPlace(parsing: $0) })
  package var places: [ControlPlace] = []

  /// Whether commands come from anywhere.
  var takesCommands: Bool { !places.isEmpty }

  /// Whether standard input is read for commands.
  var readsStandardInput: Bool { places.contains(.standardInput) }

  /// The socket at which commands are taken; nil: none.
  var socket: ControlPath? {
    for case .socket(let path) in places { return path }
    return nil
  }

  package func validate() throws {
    let sockets = places.count { if case .socket = $0 { true } else { false } }
    if sockets > 1 { throw ValidationError("--control takes one socket; any number of programs may connect to it.") }
  }
}

/// Where commands come from, as `--control` says it.
package enum ControlPlace: Hashable, Sendable {
  case standardInput
  case socket(ControlPath)

  /// How standard input is written where a value must stand: `--control` alone is read as `--control=-`.
  package static let standardInputWord = "-"

  package init(parsing text: String) throws {
    if text == Self.standardInputWord {
      self = .standardInput
    } else if text.hasPrefix(ControlPath.prefix) {
      self = .socket(try ControlPath(parsing: text, option: "--control"))
    } else {
      throw ValidationError("--control takes unix:PATH, or no value for standard input; not '\(text)'.")
    }
  }

  /// The arguments of a command line with a value for each `--control`. A value of `--control` begins with `unix:`, so that
  /// `rtcast file --control talk.mp4` names a file, as it always did.
  package static func normalized(_ arguments: [String]) -> [String] {
    // The words after `ctl` are for another process, and a word with three dashes asks for a shell's completions.
    if let first = arguments.first, first == CtlCommand.name || first.hasPrefix("---") { return arguments }
    let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
    return arguments.indices.map { index in
      guard index < end, arguments[index] == "--control" else { return arguments[index] }
      let next = index + 1
      let hasValue =
        next < end && (arguments[next].hasPrefix(ControlPath.prefix) || arguments[next] == standardInputWord)
      return hasValue ? "--control" : "--control=\(standardInputWord)"
    }
  }
}
