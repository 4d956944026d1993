// InteropPeer server|client — a peer of sipsorcery's webrtc-interop tests, without their HTTP: test_webrtc_interop.py carries the
// descriptions, each a line of JSON (`RTCSessionDescriptionInit`). The server answers and sends back what comes in data channels.
// The client offers, says a word in a channel of its own, and ends with 0 when it comes back.
import Foundation
import RTCEngine
import RTCPeer
import RTCSCTP

func hear(_ kind: Description.Kind) -> Description {
  guard let line = readLine(), let json = try? JSONDecoder().decode([String: String].self, from: Data(line.utf8)),
    json["type"] == "\(kind)", let sdp = json["sdp"]
  else { exit(65) }
  return Description(kind: kind, sdp: sdp)
}

func say(_ description: Description) throws {
  let json = try JSONEncoder().encode(["type": "\(description.kind)", "sdp": description.sdp])
  FileHandle.standardOutput.write(json + Data("\n".utf8))
}

var options = PeerLoop.Options()
options.includesLoopback = true
let connection = PeerConnection(on: try PeerLoop(options))
if CommandLine.arguments.last == "client" {
  let channel = try await connection.createDataChannel("echo", DataChannelParameters())
  try say(try await connection.setLocalDescription())
  try await connection.setRemoteDescription(hear(.answer))
  let word = "\(UInt16.random(in: 10_000...(.max)))"
  for await event in channel.events {
    if case .stateChanged(.open) = event { try channel.send(word) }
    if case .message(.text(let text)) = event { exit(text == word ? 0 : 1) }
  }
} else {
  try await connection.setRemoteDescription(hear(.offer))
  try say(try await connection.setLocalDescription())
  for await case .dataChannelOpened(let channel) in connection.events {
    Task { for await case .message(.text(let text)) in channel.events { try? channel.send(text) } }
  }
}
