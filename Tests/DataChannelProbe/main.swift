// DataChannelProbe offer|answer — one end of a data channel for the end-to-end tests. Writes its description to standard
// output and reads the other's from standard input, each ended by a line with a single dot. Opens a channel "probe", says
// "hello" in it, and sends back whatever arrives in any channel. Ends with the connection.
import Glibc
import RTCEngine
import RTCPeer
import RTCSCTP

func readDescription() -> String {
  var text = ""
  while let line = readLine(), line != "." { text += line + "\r\n" }
  return text
}

func say(_ description: Description) {
  var text = description.sdp.replacing("\r\n", with: "\n") + ".\n"
  // Not print: what it writes to a pipe waits for more.
  text.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

@Sendable func echo(_ channel: DataChannel) async {
  for await event in channel.events {
    switch event {
    case .stateChanged(.open): if channel.label == "probe" { try? channel.send("hello") }
    case .stateChanged, .bufferedAmountLow: break
    case .message(.text(let text)): try? channel.send(text)
    case .message(.binary(let bytes)): try? channel.send(bytes)
    }
  }
}

var options = PeerLoop.Options()
options.includesLoopback = true
let connection = PeerConnection(on: try PeerLoop(options))
let ours = try await connection.createDataChannel("probe", DataChannelParameters(protocol: "echo"))
Task { await echo(ours) }
if CommandLine.arguments.last == "offer" {
  say(try await connection.setLocalDescription())
  try await connection.setRemoteDescription(Description(kind: .answer, sdp: readDescription()))
} else {
  try await connection.setRemoteDescription(Description(kind: .offer, sdp: readDescription()))
  say(try await connection.setLocalDescription())
}
for await event in connection.events {
  if case .dataChannelOpened(let channel) = event { Task { await echo(channel) } }
}
