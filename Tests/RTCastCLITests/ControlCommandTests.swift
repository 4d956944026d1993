import RTCMedia
import RTCPrimitives
import Testing
import rtcast_cli

private func parse(_ line: String) throws(ControlError) -> ControlCommand { try ControlCommand(parsing: line.utf8) }

@Suite struct ControlCommandTests {
  @Test(arguments: [
    (
      #"{"command": "source", "arguments": ["test", "--pattern", "bars"]}"#,
      ControlCommand.source(["test", "--pattern", "bars"])
    ),
    (#"{"command": "source", "arguments": ["test", "--fps", 5]}"#, .source(["test", "--fps", "5"])),
    (#"{"command": "pause"}"#, .pause), (#"{"command": "resume", "arguments": []}"#, .resume),
    (#"{"command": "bitrate", "value": "800k"}"#, .bitrate(.kilobitsPerSecond(800))),
    (#"{"command": "bitrate", "value": 2500000}"#, .bitrate(.kilobitsPerSecond(2500))),
    (#"{"command": "bitrate", "arguments": ["2.5M"]}"#, .bitrate(.kilobitsPerSecond(2500))),
    (#"{"value": 7.5, "command": "fps"}"#, .frameRate(7.5)),
    (#"{"command": "fps", "arguments": ["25"]}"#, .frameRate(25)),
    (#"{"command": "hint", "value": "motion"}"#, .contentHint(.motion)), (#"{"command": "keyframe"}"#, .keyFrame),
    (#"{"command": "mute"}"#, .mute(true)), (#"{"command": "unmute"}"#, .mute(false)),
    (#"{"command": "say", "value": "Hello"}"#, .say("Hello")), (#"{"command": "accept"}"#, .answer(true)),
    (#"{"command": "reject"}"#, .answer(false)), (#"{"command": "hangup"}"#, .hangUp),
    (#"{"command": "status"}"#, .status), (#"{"command": "viewers"}"#, .viewers), (#"{"command": "stop"}"#, .stop),
  ]) func `commands are read`(line: String, command: ControlCommand) throws {
    #expect(try parse(line) == command)
  }

  @Test(arguments: [
    ("not json", "must be one JSON object"), ("[]", "not a list"), ("{}", "needs a \"command\""),
    (#"{"command": 7}"#, "is a text, not a number"),
    (#"{"command": "fly"}"#, "no command \"fly\"; there are source, pause"),
    (#"{"command": "statsu"}"#, "no command \"statsu\"; is \"status\" meant? There are source, pause"),
    (#"{"command": "stop", "value": 1}"#, "takes no arguments"),
    (#"{"command": "pause", "now": 1}"#, "no field \"now\""),
    (#"{"command": "pause", "value": 1}"#, "takes no arguments"),
    (#"{"command": "source"}"#, "needs \"arguments\""),
    (#"{"command": "source", "arguments": []}"#, "needs \"arguments\""),
    (#"{"command": "source", "arguments": "test"}"#, "a list of texts, not a text"),
    (#"{"command": "source", "arguments": [["test"]]}"#, "texts and numbers, not a list"),
    (#"{"command": "fps"}"#, "0.1 to 240 frames per second"),
    (#"{"command": "fps", "arguments": ["many"]}"#, "not \"many\""),
    (#"{"command": "fps", "value": 0}"#, "0.1 to 240 frames per second"),
    (#"{"command": "fps", "arguments": [1, 2]}"#, "takes one value"),
    (#"{"command": "fps", "value": 5, "arguments": [5]}"#, "not both"),
    (#"{"command": "bitrate", "arguments": ["-1"]}"#, "100k to 100M bit/s"),
    (#"{"command": "bitrate", "value": true}"#, "not true or false"),
    (#"{"command": "hint", "value": "sparkle"}"#, "one of motion, detail, text"),
    (#"{"command": "pause", "command": "resume"}"#, "twice"),
  ]) func `what means nothing is answered with a sentence`(line: String, words: String) {
    let error = #expect(throws: ControlError.self) { try parse(line) }
    #expect(error?.sentence.contains(words) == true, "\(error?.sentence ?? "")")
  }

  @Test func `bytes that are no text and nesting without end are refused`() {
    #expect(throws: ControlError.self) { try ControlCommand(parsing: [0xFF, 0xFE, 0]) }
    #expect(throws: ControlError.self) { try parse(String(repeating: "{", count: 60_000)) }
  }

  @Test func `replies are events`() {
    #expect(ControlReply(.success(.pause)).event.object.text == #"{"event":"control","ok":true,"command":"pause"}"#)
    #expect(
      ControlReply(.failure(ControlError("No."))).event.object.text
        == #"{"event":"error","control":true,"message":"No."}"#)
  }
}
