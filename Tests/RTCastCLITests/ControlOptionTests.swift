import ArgumentParser
import RTCSignaling
import Testing
import rtcast_cli

@Suite struct ControlOptionTests {
  @Test(arguments: [
    ("test --control", "test --control=-"), ("file --control talk.mp4", "file --control=- talk.mp4"),
    ("test --control unix:a --fps 5", "test --control unix:a --fps 5"),
    ("test --control=unix:a", "test --control=unix:a"),
    ("test --control --control unix:a", "test --control=- --control unix:a"), ("test --control -", "test --control -"),
    ("test -- --control", "test -- --control"), ("ctl source test --control", "ctl source test --control"),
    ("---completion test --control", "---completion test --control"),
  ]) func `a value is given to each --control that has none`(written: String, read: String) {
    #expect(ControlPlace.normalized(words(written)) == words(read))
  }

  @Test(arguments: [
    "test --control", "file --control talk.mp4", "file talk.mp4 --control", "test --control unix:a/b",
    "test --control=unix:a/b --control", "call --server ws://h --control unix:/x --control", "serve --control unix:./x",
    "pipe --control unix:/x", "pipe --control --socket /y",
  ]) func `commands come from standard input, from a socket, or both`(line: String) throws {
    _ = try Rtcast.parsed(words(line))
  }

  @Test(arguments: [
    ("test --control unix:", "the path of a Unix socket"), ("test --control=talk", "unix:PATH, or no value"),
    ("test --control unix:/a --control unix:/b", "takes one socket"),
    ("pipe --control --control unix:/x", "cannot both come from standard input"), ("ctl", "Name a command"),
  ]) func `what cannot be meant is refused with a sentence`(line: String, sentence: String) {
    let error = #expect(throws: (any Error).self) { try Rtcast.parsed(words(line)) }
    #expect(error.map { Rtcast.exitCode(for: $0).rawValue } == 64)
    #expect(error.map { Rtcast.message(for: $0).contains(sentence) } == true)
  }

  @Test func `ctl has a help of its own`() {
    let error = #expect(throws: (any Error).self) { try Rtcast.parsed(["ctl", "--help"]) }
    #expect(error.map { Rtcast.exitCode(for: $0).rawValue } == 0)
  }

  @Test func `a name stands for a socket of the session, and a path for itself`() throws {
    #expect(
      try ControlPath(parsing: "unix:talk", option: "-", folder: "/run/user/7/rtcast").path
        == "/run/user/7/rtcast/talk.sock")
    #expect(try ControlPath(parsing: "talk", option: "-", folder: "/f").path == "/f/talk.sock")
    #expect(try ControlPath(parsing: "./talk", option: "-", folder: "/f").path == "./talk")
    #expect(try ControlPath(parsing: "unix:/tmp/a.sock", option: "-", folder: nil).path == "/tmp/a.sock")
    let error = #expect(throws: ValidationError.self) {
      try ControlPath(parsing: "talk", option: "--socket", folder: nil)
    }
    #expect(error?.message.contains("XDG_RUNTIME_DIR") == true)
  }

  private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}

@Suite struct CtlWordsTests {
  private func line(_ words: String...) throws -> String? { try CtlWords(words)?.line(from: "/here") }

  @Test func `words become a control line`() throws {
    #expect(try line("pause") == #"{"command":"pause","arguments":[]}"#)
    #expect(try line("bitrate", "2M") == #"{"command":"bitrate","arguments":["2M"]}"#)
    #expect(try line("say", "Hello", "--json") == #"{"command":"say","arguments":["Hello --json"]}"#)
    #expect(
      try line("source", "test", "--json", "--fps", "5")
        == #"{"command":"source","arguments":["test","--json","--fps","5"]}"#)
  }

  @Test func `options of ctl may stand behind the command`() throws {
    let words = try #require(CtlWords(["status", "--json", "--socket", "talk"]))
    #expect(words.json && words.socket == "talk" && words.arguments.isEmpty)
    #expect(CtlWords(["source", "test", "--json"])?.json == false)
  }

  @Test func `a file of the working folder is named with its whole path, and no other word`() throws {
    let source = #filePath.split(separator: "/").last.map(String.init) ?? ""
    #expect(
      try line("source", "file", "/etc/hostname", "--loop", source)?.contains(#""/etc/hostname","--loop","\#(source)""#)
        == true)
    // Tests run in the folder of the package.
    #expect(
      try line("source", "file", "Package.swift") == #"{"command":"source","arguments":["file","/here/Package.swift"]}"#
    )
    #expect(
      try line("source", "test", "Package.swift") == #"{"command":"source","arguments":["test","Package.swift"]}"#)
  }

  @Test(arguments: [
    (["fly"], "no command"), (["statsu"], "is \"status\" meant?"), (["bitrate"], "takes one value"),
    (["fps", "many"], "many"),
    (["pause", "now"], "takes no arguments"), (["source"], "needs \"arguments\""),
  ]) func `a command that is none is refused before anybody is asked`(words: [String], sentence: String) throws {
    let words = try #require(CtlWords(words))
    let error = #expect(throws: ControlError.self) { try words.line(from: "/") }
    #expect(error?.sentence.contains(sentence) == true)
  }

  @Test func `answers are text for people`() throws {
    func lines(_ text: String) throws -> [String] {
      ControlText.lines(of: try JSONTree(parsing: text.utf8), now: 1_000)
    }
    #expect(try lines(#"{"event":"control","ok":true,"command":"pause"}"#).isEmpty)
    #expect(try lines(#"{"event":"viewers","peers":[]}"#) == ["No viewers."])
    #expect(
      try lines(
        #"{"event":"status","kind":"cast","since":815,"process":7,"version":"","source":"screen","paused":true,"urls":["http://x/"],"#
          + #""to":null,"viewers":1,"stats":null}"#)
        == ["Casts screen for 3:05, process 7. Paused.", "  http://x/", "  1 viewer"])
    #expect(
      try lines(
        #"{"event":"viewers","peers":[{"id":"a1","state":"connected","remote":null,"codec":"VP8","fps_sent":5,"bitrate_bps":182000,"#
          + #""rtt_ms":0.7,"loss":0}]}"#)
        == [
          "ID  STATE      ADDRESS  CODEC  FRAMES   RATE        RTT     LOSS",
          "a1  connected  –        VP8    5.0 fps  182 kbit/s  0.7 ms  0.0 %",
        ])
  }
}
