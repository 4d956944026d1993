import RTCEngine
import RTCMedia
import RTCPrimitives

/// Two bytes an event: a sender of VP8 makes packets, a network loses, delays, duplicates and reorders them, the sender
/// restarts with other numbers, and some of the requested packets are retransmitted. Each delivered picture was sent,
/// is equal bit by bit, follows the one before it, and is either a key frame or the very next one.
public func fuzzVideo(_ bytes: Span<UInt8>) {
  var model = VideoModel(first: bytes.count > 1 ? UInt16(bytes[0]) << 8 | UInt16(bytes[1]) : 0)
  for place in stride(from: 2, to: bytes.count - 1, by: 2) { model.run(bytes[place], bytes[place + 1]) }
}

private struct VideoModel {
  private struct Packet {
    var number: UInt16
    var picture: Int
    var payload: [UInt8]
    var isLast: Bool
  }

  private var stream: VideoReceiveStream
  private var now = Timestamp.zero + .seconds(1)
  private let first: UInt16
  private var number: UInt16
  private var leaps = 0
  /// Every picture that was sent.
  private var pictures: [(data: [UInt8], isKeyFrame: Bool)] = []
  /// Packets that can be retransmitted, and those on their way.
  private var sent: [UInt16: Packet] = [:]
  private var underway: [Packet] = []
  private var lastShown = -1

  init(first: UInt16) {
    number = first
    self.first = first
    stream = VideoReceiveStream(ssrc: SSRC(1), first: SequenceNumber(first), now: now)
  }

  mutating func run(_ event: UInt8, _ argument: UInt8) {
    let count = Int(argument & 7) + 1
    switch event & 15 {
    case 0...4: send(isKeyFrame: argument & 0x80 != 0, packets: count) { $0 }
    case 5: send(isKeyFrame: false, packets: count) { $0.filter { Int($0.number) % 3 != Int(argument >> 6) } }
    case 6: send(isKeyFrame: argument & 0x80 != 0, packets: count) { $0.reversed() }
    case 7: send(isKeyFrame: argument & 0x80 != 0, packets: count) { $0 + $0 }
    case 8: hold(packets: count)
    case 9: if !underway.isEmpty { receive(underway.remove(at: Int(argument) % underway.count), isRepair: false) }
    case 10: repair(share: argument)
    case 11, 12: leap()
    case 13: rubbish(argument)
    case 14: now += .milliseconds(Int64(argument))
    default: now += .microseconds(Int64(argument))
    }
  }

  /// Restarts with lower or higher numbers that were not used yet.
  private mutating func leap() {
    guard leaps < 12 else { return }
    leaps += 1
    number = first &+ region
  }

  private var region: UInt16 { UInt16(leaps * 7 % 13) * 5_000 }

  private mutating func make(isKeyFrame: Bool, packets: Int) -> [Packet] {
    guard number &- first &- region < 4_900 else { return [] }
    let picture = pictures.count
    let mark = [UInt8(truncatingIfNeeded: picture >> 8), UInt8(truncatingIfNeeded: picture)]
    let start: [UInt8] = isKeyFrame ? [0x10, 2, 0, 0x9D, 0x01, 0x2A, 16, 0, 16, 0] : [0x11, 2, 0]
    var data: [UInt8] = []
    let made = (0..<packets).map { index -> Packet in
      let part = (index == 0 ? start : []) + mark + [UInt8(index)]
      data += part
      defer { number &+= 1 }
      return Packet(
        number: number, picture: picture, payload: [index == 0 ? 0x10 : 0] + part, isLast: index == packets - 1)
    }
    pictures.append((data, isKeyFrame))
    for packet in made { sent[packet.number] = packet }
    return made
  }

  private mutating func send(isKeyFrame: Bool, packets: Int, _ network: ([Packet]) -> [Packet]) {
    now += .milliseconds(33)
    for packet in network(make(isKeyFrame: isKeyFrame, packets: packets)) { receive(packet, isRepair: false) }
  }

  private mutating func hold(packets: Int) {
    underway += make(isKeyFrame: packets % 4 == 0, packets: packets)
    if underway.count > 64 { underway.removeFirst(underway.count - 64) }
  }

  private mutating func receive(_ packet: Packet, isRepair: Bool) {
    var frames: [ReceivedFrame] = []
    _ = stream.receive(
      header: VideoReceiveStream.Header(
        number: SequenceNumber(packet.number), timestamp: RTPTimestamp(UInt32(packet.picture) &* 3_000),
        marker: packet.isLast),
      payload: packet.payload.span, isRepair: isRepair, now: now, frames: &frames)
    check(frames)
  }

  private mutating func repair(share: UInt8) {
    now = max(now, min(now + .milliseconds(200), stream.missing.nextRequest ?? now))
    var frames: [ReceivedFrame] = []
    let asked = stream.repairsDue(now, roundTrip: .milliseconds(20), frames: &frames)
    check(frames)
    guard let asked else {
      precondition(stream.needsKeyFrame && stream.missing.isEmpty)
      return
    }
    precondition(asked.count <= NACKGenerator.maximumCount)
    for (index, number) in asked.enumerated() where (index + Int(share)) % 3 != 0 {
      if let packet = sent[number.value] { receive(packet, isRepair: true) }
    }
  }

  private mutating func rubbish(_ argument: UInt8) {
    var frames: [ReceivedFrame] = []
    let payload = [UInt8](repeating: argument, count: Int(argument & 3))
    _ = stream.receive(
      header: VideoReceiveStream.Header(
        number: SequenceNumber(number), timestamp: RTPTimestamp(UInt32(argument)), marker: true, codec: .h264),
      payload: payload.span, isRepair: false, now: now, frames: &frames)
    // A number that no picture of the sender has.
    number &+= 1
    check(frames)
  }

  private mutating func check(_ frames: [ReceivedFrame]) {
    for frame in frames where frame.codec == .vp8 {
      let picture = Int(frame.timestamp.value / 3_000)
      precondition(picture < pictures.count && frame.data == pictures[picture].data)
      precondition(frame.isKeyFrame == pictures[picture].isKeyFrame)
      precondition(frame.isKeyFrame || picture == lastShown + 1)
      lastShown = picture
    }
    precondition(stream.missing.count <= 2_048 + NACKGenerator.maximumCount)
    precondition(stream.keyFrameWantedAt == nil || stream.needsKeyFrame)
  }
}
