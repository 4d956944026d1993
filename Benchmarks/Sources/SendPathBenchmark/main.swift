// What one packet costs from the encoded frame to the kernel: 200,000 packets of one connected peer.
import Metering
import RTCEngine
import RTCMedia
import RTCNet
import RTCPrimitives
import RTCSRTP
import RTCTestKit

let packetGoal = 200_000
let frameSize = 22_000
let frameInterval = TimeDelta.milliseconds(8)  // slower than the pacer's rate, so that a frame leaves in one step

/// SRTP alone, on packets of the size the engine makes.
func measureSRTP(packetSize: Int) throws -> (Meter, packets: Int) {
  var random = SeededGenerator(seed: 1)
  func key(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  let profile = SRTPProfile.aeadAes128Gcm
  let local = SRTPMasterKey(key: key(profile.keyLength), salt: key(profile.saltLength))
  let remote = SRTPMasterKey(key: key(profile.keyLength), salt: key(profile.saltLength))
  var session = try SRTPSession(keys: SRTPKeys(profile: profile, local: local, remote: remote))
  var bytes = [UInt8](repeating: 0, count: DatagramBatch.maximumDatagramSize)
  bytes[0] = 0x80
  var meter = Meter()
  var number: UInt16 = 0
  func protect() throws {
    number &+= 1
    bytes[2] = UInt8(number >> 8)
    bytes[3] = UInt8(truncatingIfNeeded: number)
    var packet = bytes.mutableSpan
    _ = try session.protectRTP(&packet, count: packetSize)
  }
  try protect()
  meter.measure { for _ in 0..<packetGoal { try? protect() } }
  return (meter, packetGoal)
}

/// A connected peer that sends frames, as if into the air.
func measureSending() throws -> (engine: Meter, sending: Meter, packets: Int, packetSize: Int) {
  let ports = try [UDPPort(UDPPort.Options(address: .loopbackV4)), UDPPort(UDPPort.Options(address: .loopbackV4))]
  var options = PeerPair.Options()
  options.addresses = [
    .offerer: SocketAddress(ip: .loopbackV4, port: ports[0].number),
    .answerer: SocketAddress(ip: .loopbackV4, port: ports[1].number),
  ]
  options.conditions = NetworkConditions()
  // Feedback of packets that nobody receives would close the congestion window.
  options.configure = { $1.makeEstimator = RateControlAlgorithm.stepped.makeEstimator }
  let pair = try PeerPair(options)
  precondition(pair.connect() != nil, "the peers do not connect")
  precondition(pair.sender.peer.statistics.srtpProfile == "AEAD_AES_128_GCM")
  let end = pair.sender
  guard let video = end.first(.video) else { preconditionFailure("no video to send") }
  var source = SyntheticVideo(interval: frameInterval, frameSize: frameSize, keyFrameSize: frameSize)
  var (engine, sending) = (Meter(), Meter())
  var (packets, bytes, frames) = (0, 0, 0)
  while packets < packetGoal {
    pair.run(for: frameInterval)  // consent checks and reports, not measured
    let frame = source.next(pair.now)
    let now = pair.now
    var step = Meter()
    step.measure { end.peer.handle(.frame(frame, video), now: now, into: &end.outbox) }
    var send = Meter()
    send.measure { ports[0].send(end.outbox.datagrams) }
    frames += 1
    if frames > 500 {  // warm by now: history, buffers, SRTP's streams
      engine.add(step)
      sending.add(send)
      packets += end.outbox.datagrams.count
      bytes += end.outbox.datagrams.byteCount
    }
    end.outbox.removeAll()
  }
  return (engine, sending, packets, bytes / packets)
}

let (engine, sending, packets, packetSize) = try measureSending()
let (srtp, srtpPackets) = try measureSRTP(packetSize: packetSize - 16)
print("\(packets) packets of \(packetSize) bytes on average, AEAD_AES_128_GCM")
engine.report("engine with SRTP ", packets: packets)
srtp.report("  of that SRTP   ", packets: srtpPackets)
engine.without(srtp, scale: Double(packets) / Double(srtpPackets)).report("  of that engine ", packets: packets)
sending.report("send (UDP GSO)   ", packets: packets)
