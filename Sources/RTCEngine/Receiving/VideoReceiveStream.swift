import RTCPrimitives
import RTCWire

/// Receives one VP8 video: puts packets in order, asks for the missing ones, and hands over whole pictures.
struct VideoReceiveStream {
  /// What a stream needs to know of a packet's header.
  struct Header {
    var number: SequenceNumber
    var timestamp: RTPTimestamp
    var marker: Bool
  }

  private struct Packet {
    var number: Extended<SequenceNumber>
    var timestamp: RTPTimestamp
    var arrival: Timestamp
    var isLast: Bool
    /// The first packet of a picture.
    var isFirst: Bool
    var isKeyFrame: Bool
    var payload: [UInt8]
  }

  /// What the stream needs before it can hand over pictures.
  private enum Progress {
    /// Nothing came yet, or repair failed: only a key frame helps.
    case awaitingKeyFrame
    /// Pictures up to here were handed over; the next starts at this number.
    case next(Extended<SequenceNumber>)
  }

  static let capacity = 2048
  /// Reordering heals by itself within this time more often than not.
  static let patience = TimeDelta.milliseconds(5)

  let ssrc: SSRC
  private var ring: [Packet?] = Array(repeating: nil, count: Self.capacity)
  private var progress = Progress.awaitingKeyFrame
  private(set) var missing = MissingPackets()
  private(set) var statistics: ReceptionStatistics
  private(set) var framesReceived = 0
  private let firstPacketAt: Timestamp

  init(ssrc: SSRC, first: SequenceNumber, now: Timestamp) {
    self.ssrc = ssrc
    firstPacketAt = now
    // One wrap of room below, so that a packet older than the first seen has a number too.
    statistics = ReceptionStatistics(first: Extended(Int64(first.value) + 65_536))
  }

  /// True while only a key frame can start the picture.
  var needsKeyFrame: Bool { if case .awaitingKeyFrame = progress { true } else { false } }

  /// True when packets come but no picture can be made of them, and a key frame should be asked for.
  func isStuck(_ now: Timestamp) -> Bool {
    needsKeyFrame && missing.isEmpty && now - firstPacketAt > .milliseconds(200)
  }

  /// Takes one packet's VP8 payload (descriptor included), and appends every picture that is whole now to `frames`.
  mutating func receive(
    header: Header, payload: Span<UInt8>, isRepair: Bool, now: Timestamp, frames: inout [ReceivedFrame]
  ) {
    let number = statistics.highest.nearest(header.number)
    guard abs(number.value - statistics.highest.value) < Int64(Self.capacity) else {
      restart(at: header, payload: payload, now: now)
      return
    }
    if !isRepair || number > statistics.highest { noteGap(upTo: number, now: now) }
    if !isRepair { statistics.count(number, timestamp: header.timestamp, arrival: now) }
    missing.remove(number)
    store(number, header: header, payload: payload, now: now)
    deliver(into: &frames)
  }

  /// The numbers to ask for now. When repair has failed, the stream falls back to waiting for a key frame.
  mutating func repairsDue(_ now: Timestamp, roundTrip: TimeDelta) -> [SequenceNumber] {
    let (numbers, exhausted) = missing.due(now, interval: max(roundTrip + .milliseconds(5), .milliseconds(20)))
    guard exhausted else { return numbers }
    abandon()
    return []
  }

  /// Gives up the picture that cannot be completed; the caller asks for a key frame.
  mutating func abandon() {
    progress = .awaitingKeyFrame
    missing.removeAll()
  }

  mutating func takeFractionLost() -> UInt8 { statistics.takeFractionLost() }

  private mutating func restart(at header: Header, payload: Span<UInt8>, now: Timestamp) {
    self = VideoReceiveStream(ssrc: ssrc, first: header.number, now: now)
    let number = statistics.highest.nearest(header.number)
    statistics.count(number, timestamp: header.timestamp, arrival: now)
    store(number, header: header, payload: payload, now: now)
  }

  private mutating func noteGap(upTo number: Extended<SequenceNumber>, now: Timestamp) {
    let next = statistics.highest.value + 1
    guard number.value > next, statistics.received > 0 else { return }
    missing.add(next..<number.value, now: now, patience: Self.patience)
  }

  private mutating func store(
    _ number: Extended<SequenceNumber>, header: Header, payload: Span<UInt8>, now: Timestamp
  ) {
    if case .next(let next) = progress, number < next { return }  // a duplicate of what was handed over
    var reader = ByteReader(payload)
    guard let descriptor = VP8PayloadDescriptor(parsing: &reader), !reader.isAtEnd else { return }
    let data = reader.readRest()
    ring[slot(number)] = Packet(
      number: number, timestamp: header.timestamp, arrival: now, isLast: header.marker,
      isFirst: descriptor.startsFrame,
      isKeyFrame: descriptor.startsFrame && VP8FrameHeader(parsing: data)?.isKeyFrame ?? false,
      payload: data.indices.map { data[$0] })
  }

  private func slot(_ number: Extended<SequenceNumber>) -> Int { Int(number.value) & (Self.capacity - 1) }

  private func packet(_ number: Extended<SequenceNumber>) -> Packet? {
    guard let packet = ring[slot(number)], packet.number == number else { return nil }
    return packet
  }

  private mutating func deliver(into frames: inout [ReceivedFrame]) {
    while true {
      let start: Extended<SequenceNumber>
      switch progress {
      case .next(let next): start = next
      case .awaitingKeyFrame:
        guard let key = completeKeyFrame() else { return }
        start = key
      }
      guard let end = endOfFrame(from: start) else { return }
      frames.append(take(start, through: end))
      framesReceived += 1
      progress = .next(Extended(end.value + 1))
      missing.removeAll(before: Extended(end.value + 1))
    }
  }

  /// The last packet of the picture that starts at `start`, if all of it is here.
  private func endOfFrame(from start: Extended<SequenceNumber>) -> Extended<SequenceNumber>? {
    var number = start
    guard let first = packet(start), first.isFirst else { return nil }
    while let packet = packet(number), packet.timestamp == first.timestamp {
      if packet.isLast { return number }
      number = Extended(number.value + 1)
      if number.value - start.value >= Int64(Self.capacity) { return nil }
    }
    return nil
  }

  /// The start of the newest key frame that is whole.
  private func completeKeyFrame() -> Extended<SequenceNumber>? {
    ring.lazy.compactMap { $0 }.filter(\.isKeyFrame).map(\.number).sorted(by: >).first { endOfFrame(from: $0) != nil }
  }

  private mutating func take(
    _ start: Extended<SequenceNumber>, through end: Extended<SequenceNumber>
  ) -> ReceivedFrame {
    var frame = ReceivedFrame(data: [], isKeyFrame: false, timestamp: RTPTimestamp(0), received: .zero)
    for value in start.value...end.value {
      guard let packet = packet(Extended(value)) else { continue }
      frame.data.append(contentsOf: packet.payload)
      frame.isKeyFrame = frame.isKeyFrame || packet.isKeyFrame
      frame.timestamp = packet.timestamp
      frame.received = max(frame.received, packet.arrival)
      ring[slot(Extended(value))] = nil
    }
    return frame
  }
}
