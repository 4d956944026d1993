// DataChannelBenchmark [MEGABYTES [MESSAGE-BYTES]] — two connections of one process on loopback, one data channel, ordered
// and reliable: what goes through in one second. Both ends share the machine's processors.
import RTCEngine
import RTCPeer
import RTCSCTP

let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
let total = (arguments.first ?? 200) * 1_000_000
let size = arguments.dropFirst().first ?? 65_536

var options = PeerLoop.Options()
options.includesLoopback = true
let caller = PeerConnection(on: try PeerLoop(options))
let callee = PeerConnection(on: try PeerLoop(options))
let channel = try await caller.createDataChannel("bulk")
channel.bufferedAmountLowThreshold = 1 << 20
let offer = try await caller.setLocalDescription()
try await callee.setRemoteDescription(offer)
try await caller.setRemoteDescription(try await callee.setLocalDescription())

let receiving = Task { () -> Duration? in
  for await event in callee.events {
    guard case .dataChannelOpened(let far) = event else { continue }
    var received = 0
    var start: ContinuousClock.Instant?
    for await message in far.messages {
      if start == nil { start = .now }
      received += message.size
      if received >= total { return start.map { .now - $0 } }
    }
  }
  return nil
}

let message = [UInt8](repeating: 7, count: size)
var sent = 0
var isOpen = false
for await event in channel.events {
  if event == .stateChanged(.open) { isOpen = true }
  guard isOpen else { continue }
  while sent < total, channel.bufferedAmount < 8 << 20 {
    try channel.send(message)
    sent += size
  }
  if sent >= total { break }
}

guard let time = await receiving.value else { fatalError("the channel closed early") }
let seconds = Double(time.components.seconds) + Double(time.components.attoseconds) / 1e18
print("\(sent / 1_000_000) MB in messages of \(size) bytes: \(Int(Double(sent) / seconds / 1e6)) MB/s")
await caller.close()
await callee.close()
