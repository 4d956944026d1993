package import RTCMedia
package import RTCPrimitives

/// Receives one video, of any codec and any change of it: puts packets in order, asks for the missing ones, and hands over whole pictures.
package struct VideoReceiveStream {
  /// What a stream needs to know of a packet's header.
  package struct Header {
    package var number: SequenceNumber
    package var timestamp: RTPTimestamp
    package var marker: Bool
    /// As the payload type says.
    package var codec: VideoCodec

    package init(number: SequenceNumber, timestamp: RTPTimestamp, marker: Bool, codec: VideoCodec = .vp8) {
      self.codec = codec
      self.number = number
      self.timestamp = timestamp
      self.marker = marker
    }
  }

  /// What the stream needs before it can hand over pictures.
  private enum Progress {
    /// Nothing came yet, or repair failed: only a key frame helps.
    case awaitingKeyFrame(since: Timestamp)
    /// Pictures before this number were handed over; the next starts here.
    case next(Extended<SequenceNumber>)
  }

  /// What came, as far as it matters to the caller.
  package enum Outcome {
    case taken
    /// Nothing can be made of the payload.
    case malformed
    /// Handed over before, or too old to be of use.
    case late
  }

  /// Reordering heals by itself within this time more often than not.
  package static let patience = TimeDelta.milliseconds(5)
  /// A first key frame may still be on its way for so long.
  package static let keyFramePatience = TimeDelta.milliseconds(200)

  package let ssrc: SSRC
  private var ring = PacketRing()
  private var progress: Progress
  /// Where key frames begin that are not whole yet, oldest first.
  private var keyFrames: [Extended<SequenceNumber>] = []
  private var newest: Extended<SequenceNumber>
  package private(set) var missing = MissingPackets()
  package private(set) var statistics: ReceptionStatistics
  package private(set) var framesReceived = 0

  package init(ssrc: SSRC, first: SequenceNumber, now: Timestamp) {
    self.ssrc = ssrc
    progress = .awaitingKeyFrame(since: now)
    // One wrap of room below, so that a packet older than the first seen has a number too.
    let base = Extended<SequenceNumber>(Int64(first.value) + 65_536)
    newest = Extended(base.value - 1)
    statistics = ReceptionStatistics(first: base)
  }

  /// True while only a key frame can start the picture.
  package var needsKeyFrame: Bool { if case .awaitingKeyFrame = progress { true } else { false } }

  /// When a key frame should be asked for if none comes; nil while there is a picture, or a key frame in repair.
  package var keyFrameWantedAt: Timestamp? {
    guard case .awaitingKeyFrame(let since) = progress, keyFrames.isEmpty else { return nil }
    return since + Self.keyFramePatience
  }

  // MARK: - Packets

  /// Takes one packet's payload (descriptors included), and appends every picture that is whole now to `frames`.
  package mutating func receive(
    header: Header, payload: Span<UInt8>, isRepair: Bool, now: Timestamp, frames: inout [ReceivedFrame]
  ) -> Outcome {
    if newest.nearest(header.number).value - newest.value >= Int64(PacketRing.capacity) {
      restart(at: header.number, now: now)
    }
    let number = newest.nearest(header.number)
    guard number.value - newest.value > -Int64(PacketRing.capacity) else { return .late }
    if number > newest {
      if statistics.received > 0 { missing.add(newest.next.value..<number.value, now: now, patience: Self.patience) }
      newest = number
    }
    if !isRepair { statistics.count(number, timestamp: header.timestamp, arrival: now) }
    missing.remove(number)
    makeRoom(for: number, now: now)
    let outcome = store(number, header: header, payload: payload, now: now)
    deliver(into: &frames, now: now)
    return outcome
  }

  /// The numbers to ask for now; nil when repair has failed, and only a key frame helps.
  package mutating func repairsDue(_ now: Timestamp, roundTrip: TimeDelta) -> [SequenceNumber]? {
    if let numbers = missing.due(now, interval: max(roundTrip + .milliseconds(5), .milliseconds(20))) { return numbers }
    abandon(now)
    return nil
  }

  package mutating func takeFractionLost() -> UInt8 { statistics.takeFractionLost() }

  /// Gives up the picture that cannot be completed.
  private mutating func abandon(_ now: Timestamp) {
    progress = .awaitingKeyFrame(since: now - Self.keyFramePatience)
    missing.removeAll()
    keyFrames.removeAll()
  }

  /// The sender is too far ahead for what came before to matter.
  private mutating func restart(at number: SequenceNumber, now: Timestamp) {
    let frames = framesReceived
    self = VideoReceiveStream(ssrc: ssrc, first: number, now: now)
    framesReceived = frames
    progress = .awaitingKeyFrame(since: now - Self.keyFramePatience)
  }

  /// A packet that takes the place of one still needed means that repair has failed.
  private mutating func makeRoom(for number: Extended<SequenceNumber>, now: Timestamp) {
    let oldest = number.value - Int64(PacketRing.capacity)
    if case .next(let next) = progress, next.value <= oldest { abandon(now) }
    keyFrames.removeAll { $0.value <= oldest }
    missing.removeAll(before: Extended(oldest))
  }

  private mutating func store(
    _ number: Extended<SequenceNumber>, header: Header, payload: Span<UInt8>, now: Timestamp
  ) -> Outcome {
    if case .next(let next) = progress, number < next { return .late }
    var packet = PacketRing.Packet(
      number: number, timestamp: header.timestamp, arrival: now, isLast: header.marker, isFirst: false,
      isKeyFrame: false, codec: header.codec, payload: [])
    var outcome = Outcome.taken
    var startsKeyFrame = false
    if !payload.isEmpty {  // an empty one pads the stream
      if let said = IncomingPayload(payload, codec: header.codec) {
        packet.isFirst = said.mayStartFrame
        packet.isKeyFrame = said.isKeyFrame
        startsKeyFrame = said.startsKeyFrame
        packet.payload = unsafe payload.extracting(said.data).withUnsafeBytes { unsafe [UInt8]($0) }
      } else {
        outcome = .malformed
      }
    }
    guard ring.insert(packet) else { return .late }
    if startsKeyFrame { noteKeyFrame(number) }
    return outcome
  }

  private mutating func noteKeyFrame(_ number: Extended<SequenceNumber>) {
    keyFrames.append(number)
    keyFrames.sort()
    if keyFrames.count > 8 { keyFrames.removeFirst() }
  }

  // MARK: - Pictures

  private mutating func deliver(into frames: inout [ReceivedFrame], now: Timestamp) {
    while let (start, last) = nextPicture(now) {
      frames.append(take(start, through: last))
      framesReceived += 1
      progress = .next(last.next)
      missing.removeAll(before: last.next)
      keyFrames.removeAll { $0 <= last }
    }
  }

  /// The next picture in order or, when that is not whole, a later key frame that is: it makes the wait needless.
  private mutating func nextPicture(_ now: Timestamp) -> (Extended<SequenceNumber>, Extended<SequenceNumber>)? {
    if case .next(let next) = progress {
      let start = ring.afterPadding(next)
      switch ring.prospect(at: start) {
      case .whole(let last): return (start, last)
      case .incomplete: break
      case .broken: progress = .awaitingKeyFrame(since: now)
      }
    }
    for start in keyFrames.reversed() {
      switch ring.prospect(at: start) {
      case .whole(let last): return (start, last)
      case .incomplete: break
      case .broken: keyFrames.removeAll { $0 == start }
      }
    }
    return nil
  }

  private mutating func take(
    _ start: Extended<SequenceNumber>, through last: Extended<SequenceNumber>
  ) -> ReceivedFrame {
    var frame = ReceivedFrame(
      codec: ring[start]?.codec ?? .vp8, data: [], isKeyFrame: false, timestamp: RTPTimestamp(0), received: .zero)
    var assembly = FrameAssembly(frame.codec)
    for value in start.value...last.value {
      guard let packet = ring[Extended(value)] else { continue }
      assembly.append(packet.payload)
      frame.isKeyFrame = frame.isKeyFrame || packet.isKeyFrame
      frame.timestamp = packet.timestamp
      frame.received = max(frame.received, packet.arrival)
      ring.remove(Extended(value))
    }
    frame.data = assembly.data
    return frame
  }
}
