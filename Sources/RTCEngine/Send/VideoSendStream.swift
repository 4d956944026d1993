package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// Identity of one outgoing video and the numbers it counts from.
package struct SendStreamIdentity: Sendable {
  package var ssrc: SSRC
  package var rtxSSRC: SSRC
  /// The source of repair packets in a stream of their own (FlexFEC).
  package var fecSSRC: SSRC
  package var cname: String
  package var firstSequenceNumber: SequenceNumber
  package var timestampOffset: RTPTimestamp
  package var firstPictureID: UInt16

  package init(
    ssrc: SSRC, rtxSSRC: SSRC, fecSSRC: SSRC, cname: String, firstSequenceNumber: SequenceNumber,
    timestampOffset: RTPTimestamp, firstPictureID: UInt16
  ) {
    self.ssrc = ssrc
    self.rtxSSRC = rtxSSRC
    self.fecSSRC = fecSSRC
    self.cname = cname
    self.firstSequenceNumber = firstSequenceNumber
    self.timestampOffset = timestampOffset
    self.firstPictureID = firstPictureID
  }
}

/// The values that are known only when a packet leaves.
package struct DepartureFields {
  package var now: Timestamp
  package var transportNumber: TransportSequenceNumber

  package init(now: Timestamp, transportNumber: TransportSequenceNumber) {
    self.now = now
    self.transportNumber = transportNumber
  }
}

/// The next packet to send.
package enum OutgoingPacket: Hashable {
  /// Written, of this length, still to be protected.
  case written(count: Int, number: SequenceNumber, isRepair: Bool)
  /// A repetition of the packet with this number, unchanged.
  case again(SequenceNumber)
  /// A repair packet, not yet encrypted; its number is nil in a stream of its own.
  case forwardErrorCorrection(count: Int, number: SequenceNumber?)
}

/// Sends one video: splits frames into packets, keeps them for repair, and retransmits requested ones.
///
/// Payload bytes stay in the encoded frame, which all viewers share; they are copied once, into the datagram.
package struct VideoSendStream {
  private struct Pending {
    var frame: FrameBytes
    var split: Packetizer
    /// The approximate number of its packets.
    var packets: Int
    var isBegun = false
    var payloadTypes: CodecPayloadTypes
    var timestamp: RTPTimestamp
    var queued: Timestamp
  }

  let identity: SendStreamIdentity
  private(set) var format: SendStreamFormat
  private var pending: [Pending] = []
  private var cache = RetransmissionCache()
  private var nextSequence: SequenceNumber
  private var nextRTXSequence: SequenceNumber
  private var protection: FrameProtection
  private var nextPictureID: UInt16
  private var decodable = Decodable.keyFrameOnly
  /// Small frames whose packets are repeated, the oldest first.
  private var copies = CopyQueue()
  /// Packets of the frame on its way out that have left.
  private var framePackets = 0
  /// The numbers of the frames since the last key frame.
  private var payloadTypes: CodecPayloadTypes?

  /// The frames that the viewer's decoder can use next.
  private enum Decodable {
    /// Only a key frame: the viewer has no picture, or a frame was left out.
    case keyFrameOnly
    /// Only a key frame, because the network is too slow: request it when the waiting packets were sent, not earlier.
    case keyFrameOnceDrained
    /// Frames that refer to sent frames of a rendition.
    case frames(SentFrames)
  }

  package private(set) var statistics = SendStatistics()
  /// When the last packet of a key frame left.
  private(set) var keyFrameSent: Timestamp?

  /// The largest UDP payload: what passes everywhere the web's own peers pass.
  package static let maximumPacketSize = 1200
  /// SRTP's tag in the larger profile (AEAD_AES_128_GCM: 16 bytes).
  static let srtpOverhead = 16
  /// The maximum time for the waiting frames; beyond it, the network is too slow: frames are left out until a later key
  /// frame. A key frame being sent is not counted, as the viewer waits for it.
  package static let maximumQueueTime = TimeDelta.milliseconds(600)
  /// The time for waiting frames beyond which frames of upper layers are left out.
  package static let upperLayerQueueTime = TimeDelta.milliseconds(150)
  /// When repair needs longer than this, a key frame is there sooner.
  static let maximumRepairTime = TimeDelta.milliseconds(300)
  /// Bytes of repair that are never too many: about the smallest key frame of a screen.
  static let leastRepair = 12_000
  /// Frames of so many packets at most are sent twice …
  static let maximumCopied = FECController.smallFrame
  /// … where so much is lost.
  static let lossToCopyAt = 0.01
  /// From this loss on, frames of one packet are sent three times, and packets that can only be recovered by
  /// retransmission are retransmitted twice: another request would take more than a round trip.
  static let lossToRepeatAt = 0.05
  /// After this time without a frame, sent packets are not requested any more.
  static let historyTime = TimeDelta.seconds(5)
  /// Feedback reports arrivals within this time.
  private static let feedbackTime = TimeDelta.milliseconds(100)
  /// The maximum padding that a packet's last byte can state.
  private static let paddingSize = 255
  /// The maximum number of packets retransmitted for lack of feedback.
  static let maximumTail = 32

  package init(identity: SendStreamIdentity, format: SendStreamFormat) {
    self.identity = identity
    self.format = format
    nextSequence = identity.firstSequenceNumber
    nextRTXSequence = identity.firstSequenceNumber.advanced(by: 0x2000)
    protection = FrameProtection(firstSequenceNumber: identity.firstSequenceNumber.advanced(by: 0x4000))
    nextPictureID = identity.firstPictureID & 0x7FFF
    pending.reserveCapacity(16)
  }

  /// True when a packet waits for the pacer.
  package var hasPending: Bool { cache.queuedCount > 0 || protection.hasPending || !pending.isEmpty }

  /// Packets kept for retransmission, and waiting ones.
  package var retainedPackets: Int {
    cache.count + pending.reduce(0) { $0 + 1 + $1.split.remainingBytes(of: $1.frame) / Self.maximumPacketSize }
  }

  // MARK: - Frames in

  /// Queues `frame`, or leaves it out if the viewer could not decode it or the network is too slow. Another rendition
  /// begins with its key frame; its other frames are useless to a viewer of the present one.
  /// - Parameter rate: the pacer's rate.
  /// - Returns: false if a key frame is needed before anything can be sent; see `popKeyFrameRequest`.
  package mutating func enqueue(_ frame: EncodedFrame, now: Timestamp, rate: BitRate) -> Bool {
    guard format.takes(frame.codec) else {
      statistics.framesSkipped += 1
      return true  // no key frame would help
    }
    var differences: VP9References?
    if frame.isKeyFrame {
      cutQueue()  // a key frame makes everything before it needless
      payloadTypes = format.payloadTypes(for: frame)
    } else {
      if case .frames(let sent) = decodable, sent.rendition != frame.rendition {
        statistics.framesSkipped += 1
        return true
      }
      // Frames that no other frame needs do not delay necessary ones.
      if frame.layer.temporal > 0, rate.time(forBytes: waitingBytes) > Self.upperLayerQueueTime {
        statistics.framesSkipped += 1
        return true
      }
      if rate.time(forBytes: waitingBytes) > Self.maximumQueueTime {
        cutQueue()
        decodable = .keyFrameOnceDrained
      }
      if case .frames(let sent) = decodable { differences = sent.differences(of: frame) }
      guard case .frames(var sent) = decodable, sent.add(frame) else {
        if case .frames = decodable { decodable = .keyFrameOnly }
        statistics.framesSkipped += 1
        return false
      }
      decodable = .frames(sent)
    }
    if frame.isKeyFrame {
      decodable = .frames(SentFrames(keyFrame: frame))
      if case .frames = frame.references { differences = [] }
    }
    // Without bytes: an encoder's word for "as before".
    guard !frame.data.isEmpty, let payloadTypes else { return true }
    let bytes = FrameBytes(frame)
    let room = maximumPayload(of: bytes, payloadTypes)
    let split = Packetizer(frame, pictureID: nextPictureID, differences: differences, room: room)
    guard !split.isAtEnd else {  // no frame of its codec
      decodable = .keyFrameOnly
      statistics.framesSkipped += 1
      return true
    }
    pending.append(
      Pending(
        frame: bytes, split: split, packets: Self.packetCount(of: bytes, room: room), payloadTypes: payloadTypes,
        timestamp: rtpTimestamp(frame.captureTime), queued: now)
    )
    nextPictureID = (nextPictureID + 1) & 0x7FFF
    return true
  }

  /// True, once, when the queue has drained since frames were left out for its length: the source should make a key
  /// frame now. Always true while the viewer has nothing to decode from.
  package mutating func popKeyFrameRequest() -> Bool {
    switch decodable {
    case .keyFrameOnly: return true
    case .keyFrameOnceDrained where !hasPending:
      decodable = .keyFrameOnly
      return true
    case .keyFrameOnceDrained, .frames: return false
    }
  }

  /// True while the viewer has nothing to decode from.
  package var needsKeyFrame: Bool { if case .keyFrameOnly = decodable { true } else { false } }

  /// True when the queue has drained after frames were left out for its length.
  package var hasDrainedTooLate: Bool {
    if case .keyFrameOnceDrained = decodable { !hasPending } else { false }
  }

  private func maximumPayload(of frame: FrameBytes, _ payloadTypes: CodecPayloadTypes) -> Int {
    let header = RTPOutgoingHeader(
      payloadType: payloadTypes.media, sequenceNumber: nextSequence, timestamp: RTPTimestamp(0), ssrc: identity.ssrc,
      extensions: extensions(for: frame))
    var overhead = RTXPayloadHeader.size
    if let fec = format.fec {
      // A repair packet is longer than the protected ones by this, and by its own header extensions.
      let own = repairHeader(payloadTypes.media, nextSequence, RTPTimestamp(0)).size(map: format.extensionMap)
      overhead = max(overhead, fec.overhead + own - RTPHeader.fixedSize)
    }
    return Self.maximumPacketSize - Self.srtpOverhead - header.size(map: format.extensionMap) - overhead
  }

  /// Packets of a frame, about: exactly so in VP8, whose packets each begin with four bytes of their own.
  private static func packetCount(of frame: FrameBytes, room: Int) -> Int {
    (frame.data.count + room - 5) / (room - 4)
  }

  /// Bytes that wait, repair included.
  package var queuedBytes: Int {
    pending.reduce(cache.queuedBytes) { $0 + $1.split.remainingBytes(of: $1.frame) }
  }

  /// Bytes of the frames that wait, key frames aside.
  private var waitingBytes: Int {
    pending.reduce(0) { $1.frame.isKeyFrame ? $0 : $0 + $1.split.remainingBytes(of: $1.frame) }
  }

  /// Drops whole frames that have not begun to leave.
  private mutating func cutQueue() {
    let before = pending.count
    pending.removeAll { !$0.isBegun }
    statistics.framesSkipped += UInt64(before - pending.count)
  }

  /// Changes payload types or codecs: the next frame must be a key frame.
  mutating func setFormat(_ new: SendStreamFormat) {
    format = new
    protection.cancel()
    payloadTypes = nil
    decodable = .keyFrameOnly
  }

  /// Sends nothing until the next key frame; waiting packets are dropped. Sequence numbers continue.
  mutating func rest() {
    statistics.framesSkipped += UInt64(pending.count)
    pending.removeAll(keepingCapacity: true)
    forgetSent()
    decodable = .keyFrameOnly
  }

  /// Updates the state of the path for the protection of frames.
  /// - Parameters:
  ///   - loss: recent packet loss, 0…1.
  ///   - overhead: the number of repair packets for each packet of media that the spare bandwidth allows.
  package mutating func networkChanged(
    loss: Double, roundTrip: TimeDelta, overhead: Double = 0, now: Timestamp
  ) {
    protection.controller.update(loss: loss, roundTrip: roundTrip, overhead: overhead, now: now)
  }

  private mutating func forgetSent() {
    cache = RetransmissionCache()
    copies = CopyQueue()
    protection.cancel()
  }

  // MARK: - Packets out

  /// Writes the next waiting packet, unprotected, at the start of `datagram`.
  /// - Returns: nil when nothing waits.
  @_lifetime(datagram: copy datagram)
  package mutating func writeNext(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields
  ) -> OutgoingPacket? {
    if let packet = cache.nextRepair(moment.now) {
      statistics.packetsRetransmitted += 1
      if packet.needsCopy, protection.controller.loss >= Self.lossToRepeatAt {
        copies.add(last: packet.number, count: 1, isRepair: true, moment.now)
      }
      guard let rtx = packet.payloadTypes.rtx else { return .again(packet.number) }
      return .written(
        count: write(packet, rtx: rtx, into: &datagram, at: moment), number: packet.number, isRepair: true)
    }
    if protection.hasPending { return writeProtection(into: &datagram, at: moment) }
    guard !pending.isEmpty, let packet = nextMediaPacket(moment) else { return nil }
    cache.insert(packet)
    statistics.packetsSent += 1
    statistics.payloadBytesSent += UInt64(packet.payload.count)
    return .written(
      count: write(packet, rtx: nil, into: &datagram, at: moment), number: packet.number, isRepair: false)
  }

  /// Counts a protected datagram that left.
  package mutating func countSent(bytes: Int, isRepair: Bool) {
    statistics.bytesSent += UInt64(bytes)
    if isRepair { statistics.bytesRetransmitted += UInt64(bytes) }
  }

  /// Whether packets are retransmitted by RTX.
  var hasRTX: Bool { payloadTypes?.rtx != nil }

  private mutating func nextMediaPacket(_ moment: DepartureFields) -> RetransmissionCache.Packet? {
    guard let payload = pending[0].split.next(in: pending[0].frame) else {
      pending.removeFirst()
      return nil
    }
    if !pending[0].isBegun { protection.begin(packets: pending[0].packets, format.fec) }
    var packet = RetransmissionCache.Packet(
      number: nextSequence, timestamp: pending[0].timestamp, payload: payload, payloadTypes: pending[0].payloadTypes,
      sent: moment.now, transportNumber: moment.transportNumber, frame: pending[0].frame)
    packet.isProtected = protection.isActive
    nextSequence = nextSequence.advanced(by: 1)
    framePackets += 1
    if payload.isLast {
      if framePackets <= Self.maximumCopied {
        copies.add(last: packet.number, count: framePackets, moment.now)
      }
      framePackets = 0
      statistics.sendDelay = statistics.sendDelay + (moment.now - pending[0].queued)
      statistics.framesSent += 1
      if packet.frame.isKeyFrame {
        statistics.keyFramesSent += 1
        keyFrameSent = moment.now
      }
      pending.removeFirst()
    } else {
      pending[0].isBegun = true
    }
    return packet
  }

  @_lifetime(datagram: copy datagram)
  private mutating func write(
    _ packet: RetransmissionCache.Packet, rtx: PayloadType?, renumbers: Bool = true,
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields
  ) -> Int {
    let header = RTPOutgoingHeader(
      payloadType: rtx ?? protection.red ?? packet.payloadTypes.media,
      sequenceNumber: rtx == nil ? packet.number : nextRTXSequence, timestamp: packet.timestamp,
      ssrc: rtx == nil ? identity.ssrc : identity.rtxSSRC, marker: packet.payload.isLast,
      extensions: extensions(for: packet.frame))
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: format.extensionMap)
    if rtx != nil {
      nextRTXSequence = nextRTXSequence.advanced(by: 1)
      if renumbers { cache.renumber(packet.number, moment.transportNumber) }
      RTXPayloadHeader(originalSequenceNumber: packet.number).write(into: &writer)
    }
    let payload = writer.offset
    if rtx == nil, protection.red != nil { REDBlock.writePrimaryHeader(packet.payloadTypes.media, into: &writer) }
    packet.payload.prefix.write(into: &writer)
    writer.write(packet.frame.data.span.extracting(packet.payload.range))
    let count = writer.offset
    if rtx == nil { protection.add(datagram.span.extracting(0..<count), packet, payload: payload) }
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    return count
  }

  /// Writes the next repair packet.
  @_lifetime(datagram: copy datagram)
  private mutating func writeProtection(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields
  ) -> OutgoingPacket? {
    guard let fec = format.fec else { return nil }
    var number: SequenceNumber?
    var header: RTPOutgoingHeader
    switch fec {
    case .flexFEC(let payloadType):
      header = repairHeader(payloadType, protection.takeSequenceNumber(), protection.encoder.blockTimestamp)
      header.ssrc = identity.fecSSRC
    case .ulpfec(_, let red):
      header = repairHeader(red, nextSequence, protection.encoder.blockTimestamp)
      number = nextSequence
      noteRepair(nextSequence, moment)
      nextSequence = nextSequence.advanced(by: 1)
      statistics.packetsSent += 1
    }
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: format.extensionMap)
    protection.encoder.writeNext(fec, ssrc: identity.ssrc, into: &writer)
    let count = writer.offset
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    statistics.fecPacketsSent += 1
    statistics.fecBytesSent += UInt64(count)
    return .forwardErrorCorrection(count: count, number: number)
  }

  /// A repair packet in the media's numbers that is lost is missed as media is: it is sent again as padding, which says that
  /// nothing is missing.
  private mutating func noteRepair(_ number: SequenceNumber, _ moment: DepartureFields) {
    guard let frame = protection.frame else { return }
    cache.insert(
      RetransmissionCache.Packet(
        number: number, timestamp: protection.encoder.blockTimestamp,
        payload: PayloadPiece(prefix: PayloadPrefix(), range: 0..<0, isLast: false), payloadTypes: frame.payloadTypes,
        sent: moment.now, transportNumber: moment.transportNumber, frame: frame.bytes), isMedia: false)
  }

  /// The header of a packet without an m-section: its source is known from the media, or from our description.
  private func repairHeader(
    _ payloadType: PayloadType, _ number: SequenceNumber, _ timestamp: RTPTimestamp
  ) -> RTPOutgoingHeader {
    var extensions = RTPOutgoingExtensions()
    extensions.absSendTime = .placeholder
    extensions.transportSequenceNumber = .placeholder
    return RTPOutgoingHeader(
      payloadType: payloadType, sequenceNumber: number, timestamp: timestamp, ssrc: identity.ssrc,
      extensions: extensions)
  }

  /// The extensions of a frame's packets, the same on all: equal headers make equal packet sizes, which are sent by one call.
  private func extensions(for frame: FrameBytes) -> RTPOutgoingExtensions {
    var extensions = RTPOutgoingExtensions()
    extensions.mid = format.mid
    extensions.absSendTime = .placeholder
    extensions.transportSequenceNumber = .placeholder
    if frame.isScreenshare {
      extensions.contentType = .screenshare
      extensions.playoutDelay = .immediate
    }
    if let orientation = frame.orientation { extensions.orientation = orientation }
    extensions.colorSpace = frame.colorSpace
    return extensions
  }

  /// Writes the latest packet as padding at the start of `datagram`; for a remote peer with RTX.
  /// - Returns: its length, not encrypted; nil if there is nothing to repeat.
  @_lifetime(datagram: copy datagram)
  package mutating func writePadding(into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields) -> Int? {
    guard let packet = cache.newestPacket else { return writeEmpty(into: &datagram, at: moment) }
    guard let rtx = packet.payloadTypes.rtx else { return nil }
    return write(packet, rtx: rtx, renumbers: false, into: &datagram, at: moment)
  }

  /// Before anything was sent, packets of RTX may leave that carry nothing but padding and a transport-wide number.
  var mayProbeFirst: Bool { format.firstRTX != nil && format.extensionMap[.transportSequenceNumber] != nil }

  /// Writes a packet of nothing but padding (RFC 3550 §5.1) into the stream of retransmissions.
  @_lifetime(datagram: copy datagram)
  private mutating func writeEmpty(into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields) -> Int? {
    guard let rtx = format.firstRTX else { return nil }
    var header = repairHeader(rtx, nextRTXSequence, rtpTimestamp(moment.now))
    header.ssrc = identity.rtxSSRC
    header.extensions.mid = format.mid
    nextRTXSequence = nextRTXSequence.advanced(by: 1)
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: format.extensionMap)
    writer.write(repeating: 0, count: Self.paddingSize - 1)
    writer.write(UInt8(Self.paddingSize))
    let count = writer.offset
    datagram[0] |= RTPHeader.paddingFlag
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    return count
  }

  // MARK: - Copies

  /// The time of the next unrequested copy; `.distantFuture` without any.
  package var nextCopy: Timestamp { copies.nextDeadline }

  /// Queues the packets whose time has come, where packets are lost; drops them where none are.
  /// - Parameter loss: packet loss lately, 0…1.
  /// - Returns: true when something waits now.
  package mutating func queueCopies(_ now: Timestamp, loss: Double) -> Bool {
    var hasQueued = false
    while let copy = copies.next(now) {
      guard loss >= (copy.isRepair ? Self.lossToRepeatAt : Self.lossToCopyAt) else { continue }
      for back in (0..<copy.count).reversed() {
        let number = copy.last.advanced(by: -back)
        let interval: TimeDelta = copy.isRepair || copy.round > 0 ? .zero : .seconds(1)
        hasQueued = cache.request(number, now: now, interval: interval) || hasQueued
      }
      if !copy.isRepair, copy.count == 1, copy.round == 0, loss >= Self.lossToRepeatAt {
        copies.add(last: copy.last, count: 1, round: 1, now)
      }
    }
    return hasQueued
  }

  // MARK: - Feedback

  /// Queues the packet a NACK asks for, unless it waits already, was sent again less than `interval` ago and may be on its
  /// way still, or is forgotten.
  package mutating func repair(
    _ number: SequenceNumber, history: borrowing SentPacketHistory, now: Timestamp, interval: TimeDelta
  ) {
    statistics.nackedPackets += 1
    // Behind a queue that a gap has left, or many others, it takes longer than the last round trip.
    let isOnItsWay = cache.transportNumber(of: number).map { history.isInFlight($0) } ?? false
    let interval = isOnItsWay ? interval + Self.feedbackTime : interval
    cache.request(number, now: now, interval: interval, isNACK: true)
  }

  /// Gives up sent frames whose repair would take longer than a key frame.
  /// - Parameter rate: the bandwidth of the path.
  /// - Returns: true if a key frame is needed now.
  package mutating func abandonLateRepair(rate: BitRate) -> Bool {
    guard cache.queuedCount > 8 else { return false }
    let bytes = cache.queuedBytes
    guard bytes > Self.leastRepair, rate.time(forBytes: bytes) > Self.maximumRepairTime else { return false }
    if pending.contains(where: { $0.frame.isKeyFrame }) {
      // A key frame is on its way already, so earlier frames are not needed any more.
      guard pending.first?.frame.isKeyFrame == true, !pending[0].isBegun else { return false }
      forgetSent()
      return false
    }
    statistics.framesSkipped += UInt64(pending.count)
    statistics.repairsAbandoned += 1
    pending.removeAll(keepingCapacity: true)
    framePackets = 0
    forgetSent()
    decodable = .keyFrameOnly
    return true
  }

  /// Queues the latest packets again, back to the last one with feedback.
  package mutating func repairTail(_ history: SentPacketHistory, now: Timestamp) {
    cache.requestTail(limit: Self.maximumTail, now: now, history: history)
  }

  /// True when the latest packet is known to have arrived, or was sent so long ago that it is forgotten.
  package func hasTailArrived(_ history: SentPacketHistory) -> Bool {
    cache.newestTransportNumber.map { history.hasArrived($0) } ?? true
  }

  /// Frames are protected by repair packets.
  package var isProtecting: Bool { format.fec != nil && protection.controller.isOn }

  package mutating func countNACK() { statistics.nackCount += 1 }

  /// Counts that the viewer asked for a key frame, by FIR or PLI.
  package mutating func countKeyFrameRequest(isFIR: Bool) {
    if isFIR { statistics.firCount += 1 } else { statistics.pliCount += 1 }
  }

  package mutating func report(fractionLost: Double, jitter: UInt32) {
    statistics.fractionLost = fractionLost
    statistics.jitter = jitter
  }

  /// Removes frames that will not be requested any more.
  /// - Returns: false if nothing is left.
  package mutating func forgetOld(_ now: Timestamp) -> Bool { cache.removeAll(before: now - Self.historyTime) }

  /// The RTP timestamp of a moment on the monotonic clock, as in frames captured then and in sender reports.
  package func rtpTimestamp(_ time: Timestamp) -> RTPTimestamp {
    RTPTimestamp(RTPTimestamp(video: time).value &+ identity.timestampOffset.value)
  }
}

/// The frames of one rendition that a viewer was sent since its key frame: the newest, and which of the 63 before it.
private struct SentFrames {
  let rendition: Rendition
  private var newest: UInt64
  /// Bit n: the frame n before the newest.
  private var mask: UInt64 = 1

  init(keyFrame: EncodedFrame) {
    rendition = keyFrame.rendition
    newest = keyFrame.number
  }

  /// Adds a frame that the viewer can decode.
  /// - Returns: false for one that it cannot.
  mutating func add(_ frame: EncodedFrame) -> Bool {
    let distance = frame.number &- newest
    guard distance > 0, distance < .max / 2 else { return false }
    switch frame.references {
    case .previous: guard distance == 1 else { return false }
    case .frames(let numbers): guard numbers.allSatisfy({ contains($0) }) else { return false }
    }
    mask = distance < 64 ? mask << distance | 1 : 1
    newest = frame.number
    return true
  }

  /// How many of the viewer's frames before `frame`, which is to come, those lie that it names; nil when it names none, or
  /// some that the viewer has not.
  func differences(of frame: EncodedFrame) -> VP9References? {
    guard case .frames(let numbers) = frame.references, numbers.count <= VP9References.maximumCount else { return nil }
    var differences: VP9References = []
    for number in numbers {
      guard contains(number) else { return nil }
      let sentSince = mask & ((1 << (newest &- number)) - 1)
      differences.append(UInt8(sentSince.nonzeroBitCount + 1))
    }
    return differences
  }

  private func contains(_ number: UInt64) -> Bool {
    let age = newest &- number
    return age < 64 && mask >> age & 1 == 1
  }
}
