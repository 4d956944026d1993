package import RTCPrimitives
package import RTCWire

/// Recently sent packets, for retransmission: not their bytes but their positions in the encoded frames, which all
/// viewers share. Also the queue of retransmissions, so that no packet is queued twice.
package struct RetransmissionCache {
  /// One packet as it left.
  package struct Packet: Sendable {
    package var number: SequenceNumber
    package var timestamp: RTPTimestamp
    package var payload: PayloadPiece
    package var payloadTypes: CodecPayloadTypes
    package var sent: Timestamp
    package var transportNumber: TransportSequenceNumber
    package var frame: FrameBytes
    /// Repair packets followed it, which may have restored it.
    var isProtected = false
    var repair = Repair.none
    /// Whether it was requested and cannot be recovered otherwise: a single retransmission may be lost again.
    var needsCopy = false
    /// Whether it was requested before.
    var wasRequested = false

    package init(
      number: SequenceNumber, timestamp: RTPTimestamp, payload: PayloadPiece, payloadTypes: CodecPayloadTypes,
      sent: Timestamp, transportNumber: TransportSequenceNumber, frame: FrameBytes
    ) {
      self.number = number
      self.timestamp = timestamp
      self.payload = payload
      self.payloadTypes = payloadTypes
      self.sent = sent
      self.transportNumber = transportNumber
      self.frame = frame
    }
  }

  /// The state of a retransmission.
  enum Repair {
    case none
    case queued
    case sent(Timestamp)
  }

  /// At 1.1 kB a packet about 1.1 MB of history: more than two seconds at 4 Mbit/s.
  package static let capacity = 1024
  /// Requests older than this, or than three round trips, are of no use.
  private static let usefulTime = TimeDelta.seconds(2)

  /// Empty until the first packet: a peer that never connects needs none of it.
  private var packets: [Packet?] = []
  private var newest: SequenceNumber?
  /// A ring of packet numbers, oldest request first; a packet is in it at most once.
  private var queue: [SequenceNumber] = []
  private var head = 0
  package private(set) var queuedCount = 0

  package init() {}

  /// Packets held.
  package var count: Int { packets.count { $0 != nil } }

  /// - Parameter isMedia: false for packets outside frames; they are not in the tail.
  package mutating func insert(_ packet: Packet, isMedia: Bool = true) {
    if packets.isEmpty {
      packets = Array(repeating: nil, count: Self.capacity)
      queue = Array(repeating: SequenceNumber(0), count: Self.capacity)
    }
    let index = slot(packet.number)
    if case .queued = packets[index]?.repair { removeFromQueue(packets[index]!.number) }
    packets[index] = packet
    if isMedia { newest = packet.number }
  }

  /// Queues the packet to be sent again, unless it is forgotten, already queued, or was sent again less than `interval`
  /// ago, so that two requests for one loss do not cost two packets.
  /// - Parameter isNACK: the remote peer asks for it.
  /// - Returns: true when it was queued.
  @discardableResult
  package mutating func request(
    _ number: SequenceNumber, now: Timestamp, interval: TimeDelta, isNACK: Bool = false
  ) -> Bool {
    let index = slot(number)
    guard !packets.isEmpty, let packet = packets[index], packet.number == number else { return false }
    switch packet.repair {
    case .queued: return false
    case .sent(let last) where now - last < interval: return false
    case .none where now - packet.sent > max(Self.usefulTime, interval * 3): return false
    case .none, .sent: break
    }
    packets[index]!.repair = .queued
    if isNACK {
      packets[index]!.needsCopy = packet.wasRequested || !packet.isProtected
      packets[index]!.wasRequested = true
    }
    queue[(head + queuedCount) % Self.capacity] = number
    queuedCount += 1
    return true
  }

  /// Bytes of payload that wait to be sent again.
  package var queuedBytes: Int {
    var sum = 0
    for offset in 0..<queuedCount {
      sum += packets[slot(queue[(head + offset) % Self.capacity])]?.payload.count ?? 0
    }
    return sum
  }

  /// The latest packet, to be repeated as padding.
  package var newestPacket: Packet? { newest.flatMap { packets[slot($0)] } }

  /// The latest packet's transport-wide number, nil when that packet is forgotten.
  package var newestTransportNumber: TransportSequenceNumber? {
    guard let newest, let packet = packets[slot(newest)], packet.number == newest else { return nil }
    return packet.transportNumber
  }

  /// The transport-wide number under which the packet left last; nil when it is forgotten.
  package func transportNumber(of number: SequenceNumber) -> TransportSequenceNumber? {
    guard !packets.isEmpty, let packet = packets[slot(number)], packet.number == number else { return nil }
    return packet.transportNumber
  }

  /// Notes under which transport-wide number the packet was sent again.
  package mutating func renumber(_ number: SequenceNumber, _ transportNumber: TransportSequenceNumber) {
    guard !packets.isEmpty else { return }
    let index = slot(number)
    if packets[index]?.number == number { packets[index]!.transportNumber = transportNumber }
  }

  /// Queues the latest packets back to the last arrived one, at most `limit`: no later packet shows the remote peer
  /// that they are missing.
  package mutating func requestTail(limit: Int, now: Timestamp, history: SentPacketHistory) {
    guard let newest else { return }
    var first = newest
    var count = 0
    while count < limit, let packet = packets[slot(first)], packet.number == first,
      !history.hasArrived(packet.transportNumber)
    {
      count += 1
      first = first.advanced(by: -1)
    }
    for offset in 0..<count { request(first.advanced(by: offset + 1), now: now, interval: .zero) }
  }

  /// The next packet to be sent again.
  package mutating func nextRepair(_ now: Timestamp) -> Packet? {
    guard queuedCount > 0 else { return nil }
    let index = slot(queue[head])
    head = (head + 1) % Self.capacity
    queuedCount -= 1
    guard let packet = packets[index] else { return nil }
    packets[index]!.repair = .sent(now)
    packets[index]!.needsCopy = false
    return packet
  }

  /// Removes all frames sent before `horizon` without open requests.
  /// - Returns: false if nothing is left.
  @discardableResult
  package mutating func removeAll(before horizon: Timestamp) -> Bool {
    var hasLeft = false
    for index in packets.indices {
      guard let packet = packets[index] else { continue }
      if case .queued = packet.repair {
        hasLeft = true
      } else if packet.sent < horizon {
        packets[index] = nil
      } else {
        hasLeft = true
      }
    }
    return hasLeft
  }

  private func slot(_ number: SequenceNumber) -> Int { Int(number.value) % Self.capacity }

  private mutating func removeFromQueue(_ number: SequenceNumber) {
    var kept = 0
    for offset in 0..<queuedCount {
      let other = queue[(head + offset) % Self.capacity]
      guard other != number else { continue }
      queue[(head + kept) % Self.capacity] = other
      kept += 1
    }
    queuedCount = kept
  }
}
