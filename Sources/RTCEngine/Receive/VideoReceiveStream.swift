package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// Receives one video with any codec and any change of it: orders packets, requests missing ones, and delivers complete
/// frames in decoding order, each only after all frames that it needs.
///
/// Holds at most 2048 packets. All input is untrusted.
package struct VideoReceiveStream {
  /// The properties of a packet's header that a stream needs.
  package struct Header {
    package var number: SequenceNumber
    package var timestamp: RTPTimestamp
    package var marker: Bool
    /// The codec of the payload type.
    package var codec: VideoCodec
    package var extensions: VideoExtensions

    package init(
      number: SequenceNumber, timestamp: RTPTimestamp, marker: Bool, codec: VideoCodec = .vp8,
      extensions: VideoExtensions = VideoExtensions()
    ) {
      self.codec = codec
      self.number = number
      self.timestamp = timestamp
      self.marker = marker
      self.extensions = extensions
    }
  }

  /// The condition for delivering frames.
  private enum Progress {
    /// Nothing has arrived yet, or repair has failed: a key frame is needed.
    case awaitingKeyFrame(since: Timestamp)
    /// Frames before this number were delivered; the next starts here.
    case next(Extended<SequenceNumber>)
  }

  /// The result of a packet for the caller.
  package enum Outcome {
    case taken
    /// The payload is unusable.
    case malformed
    /// Delivered before, or too old to be of use.
    case late
    /// The remote peer has reached its limit of waiting bytes: the stream has released its own and waits for a key
    /// frame.
    case noRoom
  }

  /// The time that a first key frame may still be on its way, overtaken by later packets.
  package static let keyFramePatience = TimeDelta.milliseconds(50)
  /// A key frame of which nothing more came for so long does not come.
  package static let stall = TimeDelta.seconds(1)
  /// The number of consecutive distant packets that show a restart of the sender (RFC 3550, appendix A.1).
  package static let probationLength = 3

  package let ssrc: SSRC
  private var buffer: PacketBuffer
  private let memory: ByteBudget?
  private var progress: Progress
  private var dependencies = DependencyTracker()
  /// Packets of repair have numbers of this stream (ULPFEC).
  var sharesNumbersWithRepair = false
  /// The number of the last delivered frame; nil if it has none.
  private var lastPicture: PictureNumber?
  /// The beginnings of incomplete key frames, oldest first.
  private var keyFrames: [Extended<SequenceNumber>] = []
  /// The first packet since delivery stopped; earlier losses are unknown.
  private var earliest: Extended<SequenceNumber>
  private var newest: Extended<SequenceNumber>
  private var newestArrival: Timestamp
  /// All earlier packets were released.
  private var oldest: Extended<SequenceNumber>
  private var probation: SequenceProbation?
  private var reorderWindow = ReorderWindow()
  private var roundTrip = TimeDelta.milliseconds(50)
  /// The last values of the header extensions.
  private var extensions = VideoExtensions()
  /// Parameter sets of H.264 came.
  private var hasParameters = false
  package private(set) var missing = NACKGenerator()
  package private(set) var statistics: ReceptionStatistics
  package private(set) var framesReceived = 0

  /// Key frames that are waited for at a time.
  private static let maximumKeyFrames = 8

  /// - Parameter memory: what all streams of the remote peer have for packets that wait; nil: no limit but each stream's own.
  package init(ssrc: SSRC, first: SequenceNumber, now: Timestamp, memory: ByteBudget? = nil) {
    self.ssrc = ssrc
    self.memory = memory
    buffer = PacketBuffer(memory)
    progress = .awaitingKeyFrame(since: now)
    // One wrap of room below, so that a packet older than the first seen has a number too.
    let base = Extended<SequenceNumber>(Int64(first.value) + 65_536)
    earliest = base
    newest = Extended(base.value - 1)
    oldest = Extended(base.value - Int64(PacketBuffer.capacity))
    newestArrival = now
    statistics = ReceptionStatistics(first: base)
  }

  /// True while only a key frame can start the frame.
  package var needsKeyFrame: Bool { if case .awaitingKeyFrame = progress { true } else { false } }

  /// When a key frame should be asked for if none comes; nil while frames come, or a key frame is in repair.
  package var keyFrameWantedAt: Timestamp? {
    guard case .awaitingKeyFrame(let since) = progress else { return nil }
    if keyFrames.isEmpty { return since + Self.keyFramePatience }
    // The rest of one that has begun may be lost with nothing behind it to show that.
    return missing.isEmpty ? newestArrival + Self.stall : nil
  }

  /// How long a packet may be late before it is asked for.
  package var patience: TimeDelta { reorderWindow.value }

  // MARK: - Packets

  /// Takes one packet's payload (descriptors included), and appends every frame that is whole now to `frames`.
  package mutating func receive(
    header: Header, payload: Span<UInt8>, isRepair: Bool, now: Timestamp, frames: inout [ReceivedFrame]
  ) -> Outcome {
    guard isNear(header.number, isRepair: isRepair, now: now) else { return .late }
    let number = newest.nearest(header.number)
    if number > newest {
      if number == newest.next { reorderWindow.noteOrder() }
      missing.add(newest.next.value..<number.value, now: now, patience: patience)
      newest = number
      newestArrival = now
    }
    if !isRepair { statistics.count(number, timestamp: header.timestamp, arrival: now) }
    if let found = missing.remove(number), !isRepair {
      reorderWindow.note(
        missed: found.missed, request: found.lastRequest, arrival: now, roundTrip: roundTrip)
    }
    makeRoom(for: number, now: now)
    let outcome = store(number, header: header, payload: payload, now: now)
    if case .noRoom = outcome {
      restart(at: header.number, now: now)
      return outcome
    }
    deliver(into: &frames, now: now)
    return outcome
  }

  /// The numbers to request now, later ones at longer intervals; nil if repair has failed and only a key frame helps.
  /// Frames that can be shown without the packets given up are appended to `frames`.
  ///
  /// - Parameter isAgreed: false if the sender does not repair: then packets that do not arrive by themselves have
  ///   failed.
  package mutating func repairsDue(
    _ now: Timestamp, roundTrip: TimeDelta, isAgreed: Bool = true, frames: inout [ReceivedFrame]
  ) -> [SequenceNumber]? {
    self.roundTrip = roundTrip
    let interval = max(roundTrip + .milliseconds(5), .milliseconds(20))
    let lifetime = isAgreed ? max(.seconds(2), min(.seconds(4), roundTrip * 6)) : TimeDelta(nanoseconds: -1)
    while true {
      if let numbers = missing.due(now, interval: interval, lifetime: lifetime) { return numbers }
      guard giveUpOldest(now) else { break }
      deliver(into: &frames, now: now)
    }
    abandon(now)
    return nil
  }

  /// Gives up missing packets before a frame that does not need them.
  /// - Returns: false if there is no such frame.
  private mutating func giveUpOldest(_ now: Timestamp) -> Bool {
    if case .next(let next) = progress, skip(next, now) { return true }
    guard let start = keyFrames.last, missing.hasAny(before: start) else { return false }
    progress = .awaitingKeyFrame(since: now - Self.keyFramePatience)
    keyFrames = [start]
    missing.removeAll(before: start)
    return true
  }

  package mutating func takeFractionLost() -> UInt8 { statistics.takeFractionLost() }

  /// Gives up the frame that cannot be completed.
  private mutating func abandon(_ now: Timestamp) {
    progress = .awaitingKeyFrame(since: now - Self.keyFramePatience)
    missing.removeAll()
    // If an overtaken key frame arrives later, packets missing behind it are requested again.
    earliest = newest.next
    keyFrames.removeAll(keepingCapacity: true)
  }

  /// Continues with a later frame that does not need the missing packets or, if there is none yet, that can itself be
  /// left out, where layers allow it.
  /// - Returns: false if there is none.
  private mutating func skip(_ next: Extended<SequenceNumber>, _ now: Timestamp) -> Bool {
    let target =
      firstFrame(after: next) {
        dependencies.canDecode($0.dependency, codec: $0.codec, isKeyFrame: false, isNext: false)
      } ?? firstFrame(after: next) { dependencies.canLeaveOut($0.dependency, codec: $0.codec) }
    guard let target else { return false }
    progress = .next(target)
    missing.removeAll(before: target)
    dependencies.noteGap()
    return true
  }

  /// The first packet behind `number` that begins a frame of which `condition` is true.
  private func firstFrame(
    after number: Extended<SequenceNumber>, where condition: (PacketBuffer.Packet) -> Bool
  ) -> Extended<SequenceNumber>? {
    var number = number.next
    while number <= newest {
      if let packet = buffer[number], packet.isFirst, condition(packet) { return number }
      number = number.next
    }
    return nil
  }

  /// A packet that takes the place of one still needed means that repair has failed.
  private mutating func makeRoom(for number: Extended<SequenceNumber>, now: Timestamp) {
    let oldest = number.value - Int64(PacketBuffer.capacity)
    if case .next(let next) = progress, next.value <= oldest { abandon(now) }
    keyFrames.removeAll { $0.value <= oldest }
    missing.removeAll(before: Extended(oldest))
  }

  private mutating func store(
    _ number: Extended<SequenceNumber>, header: Header, payload: Span<UInt8>, now: Timestamp
  ) -> Outcome {
    guard number >= oldest else { return .late }
    if case .next(let next) = progress, number < next { return .late }
    var packet = PacketBuffer.Packet(
      number: number, timestamp: header.timestamp, arrival: now, isLast: header.marker,
      extensions: header.extensions, codec: header.codec)
    var outcome = Outcome.taken
    var startsKeyFrame = false
    var data = 0..<0
    if !payload.isEmpty {  // an empty one pads the stream
      if payload.count <= PacketBuffer.slotSize, let said = ParsedPayload(payload, codec: header.codec) {
        packet.isFirst = said.mayStartFrame
        packet.isKeyFrame = said.isKeyFrame
        packet.hasParameters = said.hasParameters
        packet.dependency = said.dependency
        packet.picture = said.picture
        startsKeyFrame = said.startsKeyFrame
        data = said.data
      } else {
        outcome = .malformed
        packet.isDamaged = true
      }
    }
    hasParameters = hasParameters || packet.hasParameters
    switch buffer.insert(packet, payload: payload.extracting(data)) {
    case .taken: break
    case .known: return .late
    case .noRoom: return .noRoom
    }
    if startsKeyFrame, header.codec != .h264 || hasParameters { noteKeyFrame(number, now: now) }
    return outcome
  }

  private mutating func noteKeyFrame(_ number: Extended<SequenceNumber>, now: Timestamp) {
    // It was overtaken by the first packet, and the packets between are late or lost.
    if number < earliest {
      for value in number.next.value..<earliest.value where buffer[Extended(value)] == nil {
        missing.add(value..<value + 1, now: now, patience: patience)
      }
      earliest = number
    }
    // Of the slices and parameter sets of one frame, the first counts.
    if let before = keyFrames.last, before < number, buffer[before]?.timestamp == buffer[number]?.timestamp { return }
    keyFrames.append(number)
    keyFrames.sort()
    if keyFrames.count > Self.maximumKeyFrames { keyFrames.removeFirst() }
  }

  // MARK: - Frames

  private mutating func deliver(into frames: inout [ReceivedFrame], now: Timestamp) {
    while let (start, last) = nextFrame(now) {
      frames.append(take(start, through: last))
      framesReceived += 1
      letGo(through: last)
    }
  }

  /// Continues behind a frame that was delivered or left out.
  private mutating func letGo(through last: Extended<SequenceNumber>) {
    progress = .next(last.next)
    buffer.removeAll(from: oldest, before: last.next)
    oldest = last.next
    missing.removeAll(before: last.next)
    keyFrames.removeAll { $0 <= last }
  }

  /// The next frame in order or, when that is not whole, a later key frame that is: it makes the wait needless.
  private mutating func nextFrame(_ now: Timestamp) -> (Extended<SequenceNumber>, Extended<SequenceNumber>)? {
    while case .next(let next) = progress {
      let start = buffer.afterPadding(next)
      switch buffer.prospect(at: start) {
      case .whole(let last) where canDecode(start, through: last): return (start, last)
      case .whole(let last) where canLeaveOut(start):
        dependencies.leaveOut()
        letGo(through: last)
      case .incomplete: guard bridge(start) else { return wholeKeyFrame() }
      case .whole, .broken: if !skip(start, now) { progress = .awaitingKeyFrame(since: now - Self.keyFramePatience) }
      }
    }
    return wholeKeyFrame()
  }

  /// Continues behind missing packets between two frames of which the second follows the first: they were not media.
  /// ULPFEC packets, which libwebrtc never retransmits, have numbers of the media's stream.
  /// - Returns: false if a frame may be missing.
  private mutating func bridge(_ start: Extended<SequenceNumber>) -> Bool {
    guard sharesNumbersWithRepair, let lastPicture, buffer[start] == nil else { return false }
    var number = start
    while number <= newest {
      number = buffer.afterPadding(number.next)
      guard let packet = buffer[number] else { continue }
      guard packet.isFirst, let picture = packet.picture, picture.follows(lastPicture) else { return false }
      progress = .next(number)
      missing.removeAll(before: number)
      return true
    }
    return false
  }

  private func canDecode(_ start: Extended<SequenceNumber>, through last: Extended<SequenceNumber>) -> Bool {
    guard let first = buffer[start] else { return false }
    return dependencies.canDecode(first.dependency, codec: first.codec, isKeyFrame: false, isNext: true)
      || buffer.isKeyFrame(start.value...last.value)
  }

  private func canLeaveOut(_ start: Extended<SequenceNumber>) -> Bool {
    buffer[start].map { dependencies.canLeaveOut($0.dependency, codec: $0.codec) } ?? false
  }

  private mutating func wholeKeyFrame() -> (Extended<SequenceNumber>, Extended<SequenceNumber>)? {
    for start in keyFrames.reversed() {
      switch buffer.prospect(at: start) {
      case .whole(let last):
        switch isKeyFrame(start, through: last) {
        case true?: return (start, last)
        case false?: keyFrames.removeAll { $0 == start }
        case nil: break
        }
      case .incomplete: break
      case .broken: keyFrames.removeAll { $0 == start }
      }
    }
    return nil
  }

  /// H.264 has parameter sets before frames that need others too, and key frames of several parts, of which the first
  /// may be missing: then it is not known yet.
  private func isKeyFrame(_ start: Extended<SequenceNumber>, through last: Extended<SequenceNumber>) -> Bool? {
    guard let first = buffer[start], first.codec == .h264 else { return true }
    guard buffer.isKeyFrame(start.value...last.value) else { return false }
    guard !first.hasParameters else { return true }
    return buffer[Extended(start.value - 1)].map { $0.timestamp != first.timestamp }
  }

  private mutating func take(
    _ start: Extended<SequenceNumber>, through last: Extended<SequenceNumber>
  ) -> ReceivedFrame {
    let first = buffer[start]
    let codec = first?.codec ?? .vp8
    let isKeyFrame = buffer.isKeyFrame(start.value...last.value)
    lastPicture = first?.picture
    dependencies.handOver(first?.dependency ?? .unsaid, codec: codec, isKeyFrame: isKeyFrame)
    // A colour space holds from one key frame to the next.
    if isKeyFrame { extensions.colorSpace = nil }
    var (size, received) = (0, Timestamp.zero)
    for value in start.value...last.value {
      guard let packet = buffer[Extended(value)] else { continue }
      size += packet.size
      extensions.update(from: packet.extensions)
      received = max(received, packet.arrival)
    }
    var depacketizer = Depacketizer(codec, payloadSize: size, packets: Int(last.value - start.value) + 1)
    for value in start.value...last.value { depacketizer.append(buffer.payload(of: Extended(value))) }
    var frame = ReceivedFrame(
      codec: codec, data: depacketizer.data, isKeyFrame: isKeyFrame, timestamp: first?.timestamp ?? RTPTimestamp(0),
      received: received)
    frame.rotation = extensions.rotation ?? .none
    frame.colorSpace = extensions.colorSpace
    frame.playoutDelay = extensions.playoutDelay
    return frame
  }
}

// MARK: - Restarts

extension VideoReceiveStream {
  /// Consecutive packets that do not fit the earlier ones.
  private struct SequenceProbation {
    var first: SequenceNumber
    var last: SequenceNumber
    var count: Int
  }

  /// False for packets too far from the others; if they continue, the sender has restarted.
  private mutating func isNear(_ number: SequenceNumber, isRepair: Bool, now: Timestamp) -> Bool {
    let distance = newest.nearest(number).value - newest.value
    if abs(distance) < Int64(PacketBuffer.capacity) {
      if !isRepair { probation = nil }
      return true
    }
    guard !isRepair else { return false }
    // A leap ahead may be an outage; a packet far behind may be an old one.
    guard let first = distance > 0 ? number : introduce(number) else { return false }
    restart(at: first, now: now)
    return true
  }

  /// The first number of a run from elsewhere, once it is long enough.
  private mutating func introduce(_ number: SequenceNumber) -> SequenceNumber? {
    guard let known = probation, number == known.last.advanced(by: 1) else {
      probation = SequenceProbation(first: number, last: number, count: 1)
      return nil
    }
    probation = SequenceProbation(first: known.first, last: number, count: known.count + 1)
    return known.count + 1 >= Self.probationLength ? known.first : nil
  }

  /// Continues from a key frame whose number is unrelated to those before.
  private mutating func restart(at number: SequenceNumber, now: Timestamp) {
    let (frames, learned, roundTrip) = (framesReceived, reorderWindow, roundTrip)
    self = VideoReceiveStream(ssrc: ssrc, first: number, now: now, memory: memory)
    (framesReceived, reorderWindow, self.roundTrip) = (frames, learned, roundTrip)
    progress = .awaitingKeyFrame(since: now - Self.keyFramePatience)
  }
}

/// Learns how late overtaken packets arrive, and thus how long not to request a missing one.
struct ReorderWindow {
  /// Reordering within one host or router heals by itself within this time.
  static let least = TimeDelta.milliseconds(5)
  /// Waiting longer would cost more than a needless repair.
  static let most = TimeDelta.milliseconds(40)

  /// The longest time of late, shrinking slowly.
  private var longest = TimeDelta.zero

  var value: TimeDelta { max(Self.least, min(Self.most, longest + longest / 4)) }

  /// A packet missed at `missed` came as itself, not as a repair.
  ///
  /// - Parameters:
  ///   - request: when it was last asked for. Without RTX an answer looks like the packet itself, but cannot be here
  ///     before the request was there and back.
  mutating func note(missed: Timestamp, request: Timestamp?, arrival: Timestamp, roundTrip: TimeDelta) {
    if let request, arrival - request >= roundTrip * 3 / 4 { return }
    longest = max(arrival - missed, longest)
  }

  /// A packet arrived in order: the learned delay decays a little.
  mutating func noteOrder() { longest = longest - longest / 512 }
}

/// The frame's properties in a packet's header extensions; nil if absent.
package struct VideoExtensions: Hashable, Sendable {
  package var rotation: VideoRotation?
  package var colorSpace: ColorSpace?
  package var playoutDelay: PlayoutDelay?

  package init() {}

  /// Takes the values of `newer`; absent values stay.
  mutating func update(from newer: VideoExtensions) {
    rotation = newer.rotation ?? rotation
    colorSpace = newer.colorSpace ?? colorSpace
    playoutDelay = newer.playoutDelay ?? playoutDelay
  }
}
