import RTCPrimitives

/// What was sent lately, so that it can be sent again: not the packets but where their bytes stand in the encoded frames,
/// which all viewers share.
struct RetransmissionCache {
  /// One packet as it left.
  struct Packet {
    var number: SequenceNumber
    var timestamp: RTPTimestamp
    var payload: Range<Int>
    var pictureID: UInt16
    var isFirst: Bool
    var isLast: Bool
    var lastSent: Timestamp
    var frame: FrameBytes
  }

  /// At 1.1 kB a packet about 1.1 MB of history: more than two seconds at 4 Mbit/s.
  static let capacity = 1024

  private var packets: [Packet?]

  init() { packets = Array(repeating: nil, count: Self.capacity) }

  mutating func insert(_ packet: Packet) { packets[Int(packet.number.value) % Self.capacity] = packet }

  /// The packet, marked as sent at `now`; nil when it is not here any more, or was sent less than `interval` ago, so that
  /// two requests for one loss do not cost two packets.
  mutating func take(_ number: SequenceNumber, now: Timestamp, interval: TimeDelta) -> Packet? {
    let index = Int(number.value) % Self.capacity
    guard let packet = packets[index], packet.number == number, now - packet.lastSent >= interval else { return nil }
    packets[index]!.lastSent = now
    return packet
  }

  /// Lets go of all frames sent before `horizon`.
  mutating func removeAll(before horizon: Timestamp) {
    for index in packets.indices where packets[index].map({ $0.lastSent < horizon }) ?? false { packets[index] = nil }
  }
}
