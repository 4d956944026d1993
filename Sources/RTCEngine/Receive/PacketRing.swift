import RTCMedia
import RTCPrimitives

/// The packets of one video that wait to become pictures, by sequence number.
struct PacketRing {
  struct Packet {
    var number: Extended<SequenceNumber>
    var timestamp: RTPTimestamp
    var arrival: Timestamp
    /// The last packet of a picture.
    var isLast: Bool
    /// The first packet of a picture, as far as its payload says.
    var isFirst: Bool
    /// Of a picture that needs no other.
    var isKeyFrame: Bool
    /// Holds the parameters that key frames need (H.264).
    var hasParameters = false
    /// Nothing can be made of it; nor, then, of its picture.
    var isDamaged = false
    var dependency = PictureDependency.unsaid
    var extensions = PictureExtensions()
    var codec: VideoCodec
    /// What `Depacketizer` takes; empty for padding.
    var payload: [UInt8]
  }

  /// What stands at a place where a picture should begin.
  enum Prospect {
    /// All of it, up to this packet.
    case whole(last: Extended<SequenceNumber>)
    /// Packets are still on their way.
    case incomplete
    /// It can never become whole: it has no beginning, or the sender went on to another before its end.
    case broken
  }

  static let capacity = 2048

  private var packets: [Packet?] = Array(repeating: nil, count: Self.capacity)
  /// How far the picture that was looked at last is there, so that a large one is not walked again for each packet.
  private var walked: (start: Extended<SequenceNumber>, next: Extended<SequenceNumber>)?

  subscript(number: Extended<SequenceNumber>) -> Packet? {
    guard let packet = packets[slot(number)], packet.number == number else { return nil }
    return packet
  }

  /// - Returns: false when it was there already.
  mutating func insert(_ packet: Packet) -> Bool {
    guard self[packet.number] == nil else { return false }
    packets[slot(packet.number)] = packet
    return true
  }

  mutating func remove(_ number: Extended<SequenceNumber>) { packets[slot(number)] = nil }

  /// The first number from `number` on at which there is no padding.
  func afterPadding(_ number: Extended<SequenceNumber>) -> Extended<SequenceNumber> {
    var number = number
    while let packet = self[number], packet.payload.isEmpty, !packet.isDamaged { number = number.next }
    return number
  }

  mutating func prospect(at start: Extended<SequenceNumber>) -> Prospect {
    guard let first = self[start] else { return .incomplete }
    guard first.isFirst else { return .broken }
    var number = start
    if let walked, walked.start == start { number = walked.next }
    while let packet = self[number] {
      if packet.isDamaged { return .broken }
      let isOfPicture = packet.timestamp == first.timestamp && packet.codec == first.codec
      if !isOfPicture, !packet.payload.isEmpty { return .broken }
      if isOfPicture, packet.isLast { return .whole(last: number) }
      number = number.next
      if number.value - start.value >= Int64(Self.capacity) { return .broken }
    }
    walked = (start, number)
    return .incomplete
  }

  /// True when the packets of a whole picture say that it needs no other.
  func isKeyFrame(_ range: ClosedRange<Int64>) -> Bool {
    range.contains { self[Extended($0)]?.isKeyFrame ?? false }
  }

  /// Lets go of what lies before `end`, from `start` on.
  mutating func removeAll(from start: Extended<SequenceNumber>, before end: Extended<SequenceNumber>) {
    let first = max(start.value, end.value - Int64(Self.capacity))
    guard first < end.value else { return }
    for value in first..<end.value where self[Extended(value)] != nil { remove(Extended(value)) }
  }

  private func slot(_ number: Extended<SequenceNumber>) -> Int { Int(number.value) & (Self.capacity - 1) }
}

extension Extended {
  var next: Extended { Extended(value + 1) }
}
