// Calls `bob` at a hub, or waits to be called; shows a test picture, saves nothing.
// Usage: MakeCall wss://hub.example alice [bob]

import RTCAudio
import RTCCapture
import RTCWindow
import RTCast

let words = CommandLine.arguments
guard words.count > 2, let hub = HubAddress(words[1]) else { fatalError("MakeCall wss://hub.example NAME [WHOM]") }
// 1. A way to others, a microphone and a loudspeaker.
let calls = try CallManager.initialize(
  signalingServer: HubSignaling(hub, name: words[2]), audioDevice: PulseAudioDevice())
_ = try await calls.setupConnection()
// 2. What we send: the microphone is added by startRecording().
try await calls.startVideoRecording(videoCapturer: SyntheticCapturer(pattern: .clock))
// 3. Ring.
if words.count > 3 { try await calls.sendCallRequest(to: words[3]) }
// 4. See, hear, answer.
let window = try await CallWindow.open(title: "Call")
for await event in calls.events {
  switch event {
  case .callChanged(.ringing(_, .callee)): try await calls.answerCallRequest(accept: true)
  case .remoteVideoAdded(let track): track.add(window.addVideo(name: track.peer))
  case .callChanged(.ended(let party, let end)): print(end.sentence(about: party.peer))
  default: break
  }
}
