// DataChannelBenchmark [MEGABYTES [MESSAGE-BYTES]] — two connections of one process on loopback, one data channel, ordered
// and reliable: what goes through in one second. Both ends share the machine's processors.
//
// DataChannelBenchmark send|receive SECONDS [MESSAGE-BYTES] — one end of such a channel. `send` offers and sends without end,
// `receive` answers, and says after so many seconds from the first message on what came in one. Descriptions go to standard
// output and come from standard input, each ended by a line with a single dot.
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

func seconds(since start: ContinuousClock.Instant) -> Double { (ContinuousClock.now - start) / .seconds(1) }

/// Sends as much as there is room for, until `total` bytes have been sent.
@Sendable func fill(_ channel: DataChannel, with size: Int, until total: Int) async throws {
  let message = [UInt8](repeating: 7, count: size)
  channel.bufferedAmountLowThreshold = 1 << 20
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
}

/// The bytes per second that come in the peer's first channel, from its first message on, until `isDone` says so of the bytes and
/// the seconds; nil when it closes before.
@Sendable func rate(of peer: PeerConnection, until isDone: (Int, Double) -> Bool) async -> Double? {
  for await event in peer.events {
    guard case .dataChannelOpened(let far) = event else { continue }
    var received = 0
    var start: ContinuousClock.Instant?
    for await message in far.messages {
      received += message.size
      let time = start.map(seconds) ?? 0
      if start == nil { start = .now }
      if isDone(received, time) { return Double(received) / time }
    }
  }
  return nil
}

func runBoth(total: Int, size: Int) async throws -> Double? {
  var options = PeerLoop.Options()
  options.includesLoopback = true
  let caller = PeerConnection(on: try PeerLoop(options))
  let callee = PeerConnection(on: try PeerLoop(options))
  let channel = try await caller.createDataChannel("bulk")
  let offer = try await caller.setLocalDescription()
  try await callee.setRemoteDescription(offer)
  try await caller.setRemoteDescription(try await callee.setLocalDescription())
  let receiving = Task { await rate(of: callee) { bytes, _ in bytes >= total } }
  try await fill(channel, with: size, until: total)
  let result = await receiving.value
  await caller.close()
  await callee.close()
  return result
}

func runSender(size: Int) async throws {
  let connection = PeerConnection(on: try PeerLoop(PeerLoop.Options()))
  let channel = try await connection.createDataChannel("bulk")
  say(try await connection.setLocalDescription())
  try await connection.setRemoteDescription(Description(kind: .answer, sdp: readDescription()))
  try await fill(channel, with: size, until: .max)
}

func runReceiver(limit: Double) async throws -> Double? {
  let connection = PeerConnection(on: try PeerLoop(PeerLoop.Options()))
  try await connection.setRemoteDescription(Description(kind: .offer, sdp: readDescription()))
  say(try await connection.setLocalDescription())
  return await rate(of: connection) { _, time in time >= limit }
}

let arguments = Array(CommandLine.arguments.dropFirst())
let numbers = arguments.compactMap(Int.init)
let size = numbers.dropFirst().first ?? 65_536
let result: Double?
switch arguments.first {
case "send":
  try await runSender(size: size)
  exit(0)
case "receive": result = try await runReceiver(limit: Double(numbers.first ?? 20))
default: result = try await runBoth(total: (numbers.first ?? 200) * 1_000_000, size: size)
}
guard let result else { fatalError("the channel closed early") }
let kilobytes = Int(result / 1e3)
let thousandths = String(kilobytes % 1_000 + 1_000).dropFirst()
print("messages of \(size) bytes: \(kilobytes / 1_000).\(thousandths) MB/s")
