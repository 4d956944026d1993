import Glibc
import RTCSignaling

/// The words of `rtcast ctl` from the command on.
package struct CtlWords: Hashable, Sendable {
  /// The commands whose words are theirs, whatever they look like.
  private static let greedy = ["source", "say"]

  package let command: String
  package private(set) var arguments: [String]
  /// Options that stand behind the command.
  package private(set) var json = false
  package private(set) var socket: String?

  /// Nil without a command.
  package init?(_ words: [String]) {
    guard let command = words.first else { return nil }
    self.command = command
    arguments = []
    var rest = words.dropFirst()
    if Self.greedy.contains(command) {
      arguments = command == "say" ? [rest.joined(separator: " ")] : Array(rest)
      return
    }
    while let word = rest.popFirst() {
      if word == "--json" {
        json = true
      } else if word == "--socket", let path = rest.popFirst() {
        socket = path
      } else {
        arguments.append(word)
      }
    }
  }

  /// The control line, with the command and its arguments checked.
  /// - Parameter folder: the working folder, from which files to play are named; the cast may have another.
  package func line(from folder: String) throws(ControlError) -> String {
    var arguments = arguments
    if command == "source", arguments.first == "file" {
      arguments = arguments.map { word in
        let isHere = !word.hasPrefix("-") && !word.hasPrefix("/") && word != "file" && access(word, F_OK) == 0
        return isHere ? "\(folder)/\(word)" : word
      }
    }
    let line = JSONValue.object([
      ("command", .string(command)), ("arguments", .array(arguments.map { .string($0) })),
    ]).text
    _ = try ControlCommand(parsing: line.utf8)
    return line
  }
}
