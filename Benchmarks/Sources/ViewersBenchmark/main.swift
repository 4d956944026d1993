// Many light viewers of one cast: each connects by WHEP, repairs and reassembles, and decodes nothing.
//
//     ViewersBenchmark URL VIEWERS SECONDS
//
// After SECONDS of warming up it counts for SECONDS and prints one line of JSON: packets and frames a second of all
// viewers together, key frames, and the latency of frames in milliseconds, from the taking of a picture to the arrival
// of its last packet, by the sender's own clock (RTCP sender reports), which is this machine's; and the longest time that any
// viewer went without a frame.
import Glibc
import RTCEngine
import RTCMedia
import RTCNet
import RTCPeer
import RTCPrimitives
import RTCSignaling
import RTCSignalingNIO
import Synchronization

/// What came in the time that counts.
final class Account: Sendable {
  struct State {
    var counts = false
    var begin = Timestamp.zero
    var frames = 0
    var keyFrames = 0
    var latencies: [Double] = []
    /// When each viewer's last frame came, and the longest time without one.
    var lastFrames: [Int: Timestamp] = [:]
    var longestGap = TimeDelta.zero

    mutating func end(of viewer: Int, _ now: Timestamp, _ begin: Timestamp) {
      longestGap = max(longestGap, now - (lastFrames[viewer] ?? begin))
      lastFrames[viewer] = now
    }
  }
  let state = Mutex(State())

  func take(_ frame: ReceivedFrame, _ clock: SenderClock?, of viewer: Int) {
    guard let clock else { return }
    // Both in seconds: the sender's wall clock when the picture was taken, and ours when its last packet came.
    let sinceReport = Double(Int32(bitPattern: frame.timestamp.value &- clock.rtpTime.value)) / 90_000
    let taken =
      Double(clock.ntpTime.value >> 32) + Double(clock.ntpTime.value & 0xFFFF_FFFF) / 4_294_967_296 + sinceReport
    let age = MonotonicClock.now() - frame.received
    let arrived = Double(WallClock.now() - age.nanoseconds) / 1e9 + 2_208_988_800
    state.withLock { state in
      guard state.counts else { return }
      state.frames += 1
      state.end(of: viewer, frame.received, state.begin)
      state.keyFrames += frame.isKeyFrame ? 1 : 0
      state.latencies.append((arrived - taken) * 1_000)
    }
  }
}

func connect(
  _ viewer: Int, of endpoint: WebAddress, _ secret: String?, on peers: PeerLoop, by client: WHIPClient,
  _ account: Account
) async throws -> PeerConnection {
  var configuration = PeerConnection.Configuration()
  configuration.receivesVideo = true
  configuration.ownsPort = true
  let connection = PeerConnection(on: peers, configuration: configuration)
  let offer = try await connection.createOffer()
  let answer = try await client.send(
    WHIPRequest(
      id: 1, .post, endpoint, authorization: secret.map { "Bearer \($0)" }, contentType: "application/sdp", body: offer)
  )
  try await connection.accept(answer: answer.body)
  Task {
    for await event in connection.events {
      guard case .trackAdded(.video(let video)) = event else { continue }
      video.setReceiver { [weak video] frame in account.take(frame, video?.senderClock, of: viewer) }
    }
  }
  return connection
}

/// At once, for whoever measures meanwhile.
func say(_ line: String) {
  var line = line + "\n"
  line.withUTF8 { _ = write(STDOUT_FILENO, $0.baseAddress, $0.count) }
}

func packets(_ viewers: [PeerConnection]) async -> Int {
  var sum = 0
  for viewer in viewers { sum += await viewer.statistics().packetsReceived }
  return sum
}

let arguments = CommandLine.arguments
guard arguments.count == 4, let count = Int(arguments[2]), let seconds = Int64(arguments[3]),
  case let link = LinkFragment.split(arguments[1]), let page = WebAddress(link.address),
  let endpoint = page.resolving("/whep")
else { fatalError("ViewersBenchmark URL VIEWERS SECONDS") }
var options = PeerLoop.Options()
options.includesLoopback = true
let peers = try PeerLoop(options)
let secret = link.fragment.token
let (client, account) = (WHIPClient(), Account())
var viewers: [PeerConnection] = []
for number in 0..<count {
  viewers.append(try await connect(number, of: endpoint, secret, on: peers, by: client, account))
}
try await Task.sleep(for: .seconds(seconds))
let before = await packets(viewers)
account.state.withLock { ($0.counts, $0.begin) = (true, MonotonicClock.now()) }
say("begin")
try await Task.sleep(for: .seconds(seconds))
let result = account.state.withLock { state in
  state.counts = false
  for viewer in 0..<count { state.end(of: viewer, MonotonicClock.now(), state.begin) }
  return state
}
let received = await packets(viewers) - before
say("end")
let sorted = result.latencies.sorted()
func percentile(_ part: Double) -> Double {
  sorted.isEmpty ? 0 : (sorted[Int(Double(sorted.count - 1) * part)] * 10).rounded() / 10
}
say(
  """
  {"viewers": \(count), "packets": \(received / Int(seconds)), "frames": \(result.frames / Int(seconds)), \
  "key_frames": \(result.keyFrames), "p50_ms": \(percentile(0.5)), "p95_ms": \(percentile(0.95)), \
  "longest_gap_ms": \(result.longestGap.milliseconds)}
  """)
for viewer in viewers { await viewer.close() }
await client.shutdown()
peers.stop()
