// What one received packet costs from the kernel's buffer to whole frames: 200,000 packets of one connected peer, for each
// codec. Packets that complete a frame are counted by themselves: the frame's bytes are memory of its own.
import Metering
import RTCEngine
import RTCMedia
import RTCPrimitives
import RTCSRTP
import RTCTestKit
import RTCWire

let packetGoal = 200_000
let frameSize = 22_000
let frameInterval = TimeDelta.milliseconds(8)  // slower than the pacer's rate, so that a frame leaves in one step

/// SRTP alone, on packets of the size the engine makes: only the receiver's side is measured.
func measureSRTP(packetSize: Int) throws -> (Meter, packets: Int) {
  var random = SeededGenerator(seed: 1)
  func key(_ count: Int) -> [UInt8] { (0..<count).map { _ in UInt8(truncatingIfNeeded: random.next()) } }
  let profile = SRTPProfile.aeadAes128Gcm
  let first = SRTPMasterKey(key: key(profile.keyLength), salt: key(profile.saltLength))
  let second = SRTPMasterKey(key: key(profile.keyLength), salt: key(profile.saltLength))
  var sender = try SRTPSession(keys: SRTPKeys(profile: profile, local: first, remote: second))
  var receiver = try SRTPSession(keys: SRTPKeys(profile: profile, local: second, remote: first))
  var bytes = [UInt8](repeating: 0, count: DatagramBatch.maximumDatagramSize)
  func protect(_ bytes: inout [UInt8], _ count: Int) throws -> Int {
    var packet = bytes.mutableSpan
    return try sender.protectRTP(&packet, count: count)
  }
  var meter = Meter()
  for number in 0..<UInt16.max {
    for index in 0..<packetSize { bytes[index] = 0 }
    (bytes[0], bytes[2], bytes[3]) = (0x80, UInt8(number >> 8), UInt8(truncatingIfNeeded: number))
    let count = try protect(&bytes, packetSize)
    var step = Meter()
    step.measure {
      var whole = bytes.mutableSpan
      var packet = whole._mutatingExtracting(0..<count)
      _ = try? receiver.unprotectRTP(&packet)
    }
    if number > 0 { meter.add(step) }
  }
  return (meter, Int(UInt16.max) - 1)
}

/// What packets cost that complete no frame, and those that do.
struct Received {
  var inside = Meter()
  var insideCount = 0
  var last = Meter()
  var lastCount = 0
  var bytes = 0
}

func format(of codec: VideoCodec) -> VideoPayloadFormat {
  VideoPayloadFormat(codec: codec, parameters: codec == .h264 ? "profile-level-id=42e01f" : "")
}

/// Copies a datagram as the kernel would.
/// - Returns: how many bytes it has.
func copy(_ index: Int, of batch: borrowing DatagramBatch, into slot: inout [UInt8]) -> Int {
  let bytes = batch.datagram(index)
  for place in bytes.indices { slot[place] = bytes[place] }
  return bytes.count
}

/// A connected peer whose packets are taken off the wire and given to the other one by one.
func measureReceiving(_ codec: VideoCodec) throws -> Received {
  var options = PeerPair.Options()
  options.conditions = NetworkConditions()
  options.configure = { _, configuration in
    configuration.receivableVideo = [format(of: codec)]
    configuration.sendsVideo?.codecs = [format(of: codec)]
    // Packets are handed over one by one, so feedback does not tell of a path.
    configuration.makeEstimator = RateControlAlgorithm.stepped.makeEstimator
  }
  let pair = try PeerPair(options)
  precondition(pair.connect() != nil, "the peers do not connect")
  let (sender, receiver) = (pair.sender, pair.receiver)
  guard let video = sender.first(.video) else { preconditionFailure("no video to send") }
  let route = Route(local: options.addresses[.answerer]!, remote: options.addresses[.offerer]!)
  var source = SyntheticVideo(interval: frameInterval, frameSize: frameSize, keyFrameSize: frameSize)
  source.codec = codec
  var slot = [UInt8](repeating: 0, count: 2_048)
  var result = Received()
  var frames = 0
  while result.insideCount + result.lastCount < packetGoal {
    pair.run(for: frameInterval)  // consent checks, reports and feedback, not measured
    sender.peer.handle(.frame(source.next(pair.now), video), now: pair.now, into: &sender.outbox)
    frames += 1
    for index in 0..<sender.outbox.datagrams.count {
      let count = copy(index, of: sender.outbox.datagrams, into: &slot)
      let now = pair.now
      var step = Meter()
      step.measure {
        let kind = PacketKind(slot.span.extracting(0..<count))
        var whole = slot.mutableSpan
        let datagram = whole._mutatingExtracting(0..<count)
        receiver.peer.handle(.datagram(datagram, kind, route), now: now, into: &receiver.outbox)
      }
      let hasFrame = receiver.outbox.events.contains { if case .frameReceived = $0 { true } else { false } }
      receiver.outbox.removeAll()
      guard frames > 500 else { continue }  // warm by then: buffers, SRTP's streams
      result.bytes += count
      if hasFrame {
        result.last.add(step)
        result.lastCount += 1
      } else {
        result.inside.add(step)
        result.insideCount += 1
      }
    }
    sender.outbox.removeAll()
  }
  return result
}

for codec in VideoCodec.allCases {
  let received = try measureReceiving(codec)
  let packets = received.insideCount + received.lastCount
  let (srtp, count) = try measureSRTP(packetSize: received.bytes / packets - 16)
  print("\(codec.rawValue): \(packets) packets of \(received.bytes / packets) bytes, \(received.lastCount) frames")
  srtp.report("  SRTP, AEAD_AES_128_GCM    ", packets: count)
  received.inside.without(srtp, scale: Double(received.insideCount) / Double(count))
    .report("  engine, within a frame    ", packets: received.insideCount)
  received.last.without(srtp, scale: Double(received.lastCount) / Double(count))
    .report("  engine, completing a frame", packets: received.lastCount)
}
