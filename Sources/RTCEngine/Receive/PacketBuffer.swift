import RTCMedia
import RTCPrimitives

/// The packet buffer: the packets of one video that wait to become frames, by sequence number.
///
/// Payloads are copied into slots, which are made as they are first needed and used again. So a packet costs no
/// allocation once as many have waited at a time as ever do.
struct PacketBuffer {
  struct Packet {
    var number: Extended<SequenceNumber>
    var timestamp: RTPTimestamp
    var arrival: Timestamp
    /// The last packet of a frame.
    var isLast: Bool
    /// The first packet of a frame, as far as its payload says.
    var isFirst = false
    /// Whether it belongs to a frame that needs no other.
    var isKeyFrame = false
    /// Holds the parameters that key frames need (H.264).
    var hasParameters = false
    /// Whether its payload, and therefore its frame, is unusable.
    var isDamaged = false
    var dependency = FrameDependency.unsaid
    var picture: PictureNumber?
    var extensions = VideoExtensions()
    var codec: VideoCodec
    /// Bytes of what `Depacketizer` takes, at most `slotSize`; 0 for padding.
    var size = 0
  }

  /// The state of a position where a frame should begin.
  enum Prospect {
    /// All of it, up to this packet.
    case whole(last: Extended<SequenceNumber>)
    /// Packets are still on their way.
    case incomplete
    /// It can never be complete: it has no beginning, or the sender began another frame before its end.
    case broken
  }

  /// Packets that wait at most, and so how far apart their numbers may lie.
  static let capacity = 2048
  /// The maximum length of a datagram that sockets receive.
  static let slotSize = 2048

  /// The slot of each number, which is found by its low bits; `vacant` where there is none.
  private var places = [UInt16](repeating: Self.vacant, count: Self.capacity)
  private static let vacant = UInt16.max
  /// By slot, like the payloads: `slotSize` bytes each.
  private var packets: [Packet] = []
  private var payloads: [UInt8] = []
  /// Slots that hold nothing; the one used last is used next, for its memory is warm.
  private var free: [UInt16] = []
  /// How far frames that were looked at are there, so that a large one is not walked again for each packet; the latest last.
  private var walks: [(start: Extended<SequenceNumber>, next: Extended<SequenceNumber>)] = []
  /// The next frame, and the key frames that are waited for beside it (`VideoReceiveStream.maximumKeyFrames`).
  private static let maximumWalks = 12
  /// Its share of its peer's memory; nil: unlimited.
  private let share: ByteShare?

  /// - Parameter memory: what all buffers of the peer have together.
  init(_ memory: ByteBudget? = nil) { share = memory.map(ByteShare.init) }

  /// The result of inserting a packet.
  enum Insertion {
    case taken
    /// The packet was there already.
    case known
    /// Its peer has no memory left.
    case noRoom
  }

  subscript(number: Extended<SequenceNumber>) -> Packet? {
    let slot = places[place(of: number)]
    guard slot != Self.vacant, packets[Int(slot)].number == number else { return nil }
    return packets[Int(slot)]
  }

  /// The payload of a packet that is there; empty for one that is not.
  @_lifetime(borrow self)
  func payload(of number: Extended<SequenceNumber>) -> Span<UInt8> {
    guard let packet = self[number] else { return payloads.span.extracting(0..<0) }
    let start = Int(places[place(of: number)]) * Self.slotSize
    return payloads.span.extracting(start..<start + packet.size)
  }

  /// Takes a packet, in the place of one whose number has the same low bits.
  /// - Parameter payload: at most `slotSize` bytes; its length becomes the packet's `size`.
  mutating func insert(_ packet: Packet, payload: Span<UInt8>) -> Insertion {
    precondition(payload.count <= Self.slotSize, "a payload is longer than its slot")
    guard self[packet.number] == nil else { return .known }
    let place = place(of: packet.number)
    if places[place] == Self.vacant {
      guard let slot = takeSlot(for: packet) else { return .noRoom }
      places[place] = slot
    }
    let slot = Int(places[place])
    packets[slot] = packet
    packets[slot].size = payload.count
    var memory = payloads.mutableSpan
    var room = memory._mutatingExtracting(slot * Self.slotSize..<(slot + 1) * Self.slotSize)
    room.copy(from: payload)
    return .taken
  }

  /// A slot that holds nothing: when there is none left, twice as many are made. Nil when there is no memory for them.
  private mutating func takeSlot(for packet: Packet) -> UInt16? {
    if free.isEmpty {
      let (old, new) = (packets.count, max(32, min(Self.capacity, packets.count * 2)))
      guard share?.take((new - old) * Self.slotSize) ?? true else { return nil }
      packets.append(contentsOf: repeatElement(packet, count: new - old))
      payloads.append(contentsOf: repeatElement(0, count: (new - old) * Self.slotSize))
      free.reserveCapacity(new)
      free.append(contentsOf: (UInt16(old)..<UInt16(new)).reversed())
    }
    return free.removeLast()
  }

  private mutating func remove(_ number: Extended<SequenceNumber>) {
    let place = place(of: number)
    guard places[place] != Self.vacant else { return }
    free.append(places[place])
    places[place] = Self.vacant
  }

  /// The first number from `number` on at which there is no padding.
  func afterPadding(_ number: Extended<SequenceNumber>) -> Extended<SequenceNumber> {
    var number = number
    while let packet = self[number], packet.size == 0, !packet.isDamaged { number = number.next }
    return number
  }

  mutating func prospect(at start: Extended<SequenceNumber>) -> Prospect {
    guard let first = self[start] else { return .incomplete }
    guard first.isFirst else { return .broken }
    var number = start
    let known = walks.firstIndex { $0.start == start }
    if let known { number = walks[known].next }
    while let packet = self[number] {
      if packet.isDamaged { return .broken }
      let isOfFrame = packet.timestamp == first.timestamp && packet.codec == first.codec
      if !isOfFrame, packet.size > 0 { return .broken }
      if isOfFrame, packet.isLast { return .whole(last: number) }
      number = number.next
      if number.value - start.value >= Int64(Self.capacity) { return .broken }
    }
    if let known {
      walks[known].next = number
    } else {
      if walks.count == Self.maximumWalks { walks.removeFirst() }
      walks.append((start, number))
    }
    return .incomplete
  }

  /// True when the packets of a whole frame say that it needs no other.
  func isKeyFrame(_ range: ClosedRange<Int64>) -> Bool {
    range.contains { self[Extended($0)]?.isKeyFrame ?? false }
  }

  /// Removes the packets from `start` to before `end`.
  mutating func removeAll(from start: Extended<SequenceNumber>, before end: Extended<SequenceNumber>) {
    walks.removeAll { $0.start < end }
    let first = max(start.value, end.value - Int64(Self.capacity))
    guard first < end.value else { return }
    for value in first..<end.value where self[Extended(value)] != nil { remove(Extended(value)) }
  }

  private func place(of number: Extended<SequenceNumber>) -> Int { Int(number.value) & (Self.capacity - 1) }
}

extension Extended {
  var next: Extended { Extended(value + 1) }
}
