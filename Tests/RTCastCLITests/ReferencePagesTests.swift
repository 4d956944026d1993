import Foundation
import Testing
import rtcast_cli

/// The pages for people who write programs say what the program says.
@Suite struct ReferencePagesTests {
  private static func page(_ name: String) throws -> [String] {
    let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
    return try String(contentsOfFile: "\(root)/docs/\(name)", encoding: .utf8).components(separatedBy: "\n")
  }

  /// The words in backquotes of a cell.
  private static func words(_ cell: some StringProtocol) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
      .map { String($0.element) }
  }

  @Test func `docs/json.md has a section for every event and no other`() throws {
    let sections = try Self.page("json.md").filter { $0.hasPrefix("### ") }.flatMap { Self.words($0) }
    #expect(Set(sections) == Set(OutputEvent.Name.allCases.map(\.rawValue)))
    #expect(sections.count == OutputEvent.Name.allCases.count)
  }

  @Test func `docs/control.md has a row for every command, for what takes it`() throws {
    let rows = try Self.page("control.md").drop { $0 != "## Commands" }.filter { $0.hasPrefix("| `") }
      .map { $0.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) } }
    #expect(rows.flatMap { Self.words($0[0]) } == ControlCommand.names)
    for row in rows {
      let name = try #require(Self.words(row[0]).first)
      let value = [
        "bitrate": #""800k""#, "fps": "5", "hint": #""text""#, "say": #""Hello""#, "revoke": #""q9ZcT2ePk1o""#,
      ][name]
      let argument = name == "source" ? #", "arguments": ["test"]"# : value.map { #", "value": \#($0)"# } ?? ""
      #expect((row[1] == "none") == argument.isEmpty, "\(name)")
      let command = try ControlCommand(parsing: #"{"command": "\#(name)"\#(argument)}"#.utf8)
      #expect(command.name == name)
      #expect(row[2] == command.takers.map { "\($0.rawValue)s" }.joined(separator: ", "), "\(name)")
    }
  }

  @Test func `the examples of docs/control.md are commands and answers`() throws {
    let lines = try Self.page("control.md").map { $0.trimmingCharacters(in: .whitespaces) }
    let examples = lines.filter { $0.hasPrefix("{\"command\"") }
    #expect(examples.count > 5)
    for (index, line) in lines.enumerated() where line.hasPrefix("{\"command\"") {
      let outcome = Result { () throws(ControlError) in try ControlCommand(parsing: line.utf8) }
      let answer = lines[index + 1]
      if answer.hasPrefix("{\"event\"") {
        #expect(ControlReply(outcome).event.object.text == answer)
      } else {
        #expect(throws: Never.self) { try outcome.get() }
      }
    }
  }

  @Test func `a command is refused where it does not belong`() throws {
    let say = try ControlCommand(parsing: #"{"command": "say", "value": "Hello"}"#.utf8)
    #expect(throws: ControlError("The command \"say\" is for calls; this is a cast.")) { try say.check(in: .cast) }
    #expect(throws: Never.self) { try say.check(in: .call) }
    let hint = try ControlCommand(parsing: #"{"command": "hint", "value": "text"}"#.utf8)
    #expect(throws: ControlError("The command \"hint\" is for casts; this is a call.")) { try hint.check(in: .call) }
  }
}
