// CallProbe — an application of the library, for the end-to-end tests (test_library_calls.py): it is called "probe", and its
// signaling is its own standard input and output. A command a line; what happens is told as a JSON object a line.
//
//   setup · ring NAME · accept · reject · hangup · disconnect · open
//   record · record-video · video · stop-video · batch · commit · mute KIND · unmute KIND · deafen · listen
//   channel LABEL [unreliable] · say LABEL TEXT · bytes LABEL TEXT
//   edit none|octave|silence          what becomes of the microphone's tone of 440 Hz
//   signal|candidate FROM JSON · end FROM CALL
import Foundation
import RTCast

let lines = AsyncStream<String> { continuation in
  Thread.detachNewThread {
    while let line = readLine() { continuation.yield(line) }
    continuation.finish()
  }
}

var options = PeerLoop.Options()
options.includesLoopback = true
var configuration = CallConfiguration()
configuration.captureSize = PixelSize(width: 320, height: 180)
let (signaling, studio, log) = (LineSignaling(), Studio(), Log())
let calls = try CallManager.initialize(
  signalingServer: signaling, config: configuration, audioDevice: studio, peers: try PeerLoop(options))
await calls.setCallManagerDelegate(log)

func perform(_ command: String, _ words: [String]) async throws {
  switch command {
  case "setup": tell("registered", ["name": try await calls.setupConnection()])
  case "open": tell("open", ["open": await signaling.isOpen ? "yes" : "no"])
  case "ring": try await calls.sendCallRequest(to: words[0])
  case "accept": try await calls.answerCallRequest(accept: true)
  case "reject": try await calls.answerCallRequest(accept: false)
  case "hangup": await calls.endCall()
  case "disconnect": await calls.disconnect()
  case "record": try await calls.startRecording()
  case "record-video": try await calls.startRecording(videoCapturer: Drawing())
  case "video": try await calls.startVideoRecording(videoCapturer: Drawing())
  case "stop-video": try await calls.stopVideoRecording()
  case "batch": await calls.startConfiguration()
  case "commit": await calls.commitConfiguration()
  case "mute", "unmute":
    let (picture, sound) = (await calls.localVideoTrack, await calls.localAudioTrack)
    if words[0] == "video" { picture?.isEnabled = command == "unmute" } else { sound?.isEnabled = command == "unmute" }
  case "deafen", "listen": log.setHearing(command == "listen")
  case "channel":
    var parameters = DataChannelParameters()
    if words.last == "unreliable" { parameters.reliability = .maximumRetransmissions(0) }
    log.keep(try await calls.createDataChannel(label: words[0], config: parameters))
  case "say": try log.channel(words[0])?.send(words.dropFirst().joined(separator: " "))
  case "bytes": try log.channel(words[0])?.send(Array(words.dropFirst().joined(separator: " ").utf8))
  case "edit": studio.edit = Studio.Edit(rawValue: words[0]) ?? .none
  default: tell("unknown", ["command": command])
  }
}

for await line in lines {
  let parts = line.split(separator: " ", maxSplits: 2).map(String.init)
  switch parts[0] {
  case "signal": await signaling.hear(.signal(Array(parts[2].utf8), from: parts[1]))
  case "candidate": await signaling.hear(.candidate(Array(parts[2].utf8), from: parts[1]))
  case "end": await signaling.hear(.endCall(from: parts[1], call: parts.count > 2 ? parts[2] : nil))
  default:
    do {
      try await perform(parts[0], line.split(separator: " ").dropFirst().map(String.init))
      tell("done", ["command": line])
    } catch { tell("failed", ["command": line, "error": "\(error)"]) }
  }
}
await calls.disconnect()
