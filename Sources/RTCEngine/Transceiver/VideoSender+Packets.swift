package import RTCPrimitives
package import RTCWire

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
  /// The packet with this number once more, unchanged.
  case again(SequenceNumber)
  /// A repair packet, not yet encrypted; its number is nil in a stream of its own.
  case forwardErrorCorrection(count: Int, number: SequenceNumber?)
}

// Writing media, retransmissions, repair packets and padding.
extension VideoSender {
  /// The longest useful time for retransmissions: when they need longer, a key frame is there sooner.
  private static let maximumRepairTime = TimeDelta.milliseconds(300)
  /// Bytes of repair that are never too many: about the smallest key frame of a screen.
  private static let leastRepair = 12_000
  /// The maximum number of packets of a frame that is sent twice.
  private static let maximumCopied = FECController.smallFrame
  /// The least packet loss for sending small frames twice.
  private static let lossToCopyAt = 0.01
  /// From this loss on, frames of one packet are sent three times, and packets that can only be recovered by
  /// retransmission are retransmitted twice: another request would take more than a round trip.
  private static let lossToRepeatAt = 0.05
  /// After this time without a frame, sent packets are not requested any more.
  private static let historyTime = TimeDelta.seconds(5)
  /// The interval of removing frames that will not be requested any more.
  static let forgettingInterval = TimeDelta.seconds(1)
  /// Feedback reports arrivals within this time.
  private static let feedbackTime = TimeDelta.milliseconds(100)
  /// The maximum padding that a packet's last byte can state.
  private static let paddingSize = 255
  /// The maximum number of packets retransmitted for lack of feedback.
  private static let maximumTail = 32

  /// A packet waits for the pacer.
  package var hasPending: Bool { isSending && !isDrained }
  /// No packet waits, for the pacer or the end of a pause.
  var isDrained: Bool { cache.queuedCount == 0 && !protection.hasPending && queue.isEmpty }
  /// Bytes that wait for the pacer, repair included.
  package var queuedBytes: Int { isSending ? cache.queuedBytes + queue.bytes : 0 }
  /// Whether padding can be made from sent packets.
  package var mayPad: Bool { isSending && hasSent }
  /// Whether padding can be made before anything was sent: packets of RTX that carry nothing but padding and a
  /// transport-wide number.
  package var mayProbeFirst: Bool {
    maySend && headers.format.firstRTX != nil && headers.format.extensionMap[.transportSequenceNumber] != nil
  }
  /// Whether packets are retransmitted by RTX.
  private var hasRTX: Bool { queue.payloadTypes?.rtx != nil }

  /// Writes the next packet that waits at the start of `datagram`, protected.
  /// - Returns: its length, 0 when nothing may leave; and its kind, nil when it leaves under the transport-wide number
  ///   that it had before.
  @_lifetime(datagram: copy datagram)
  package mutating func writeNext(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields, over transport: inout Transport
  ) -> (count: Int, kind: SentPacket.Kind?) {
    switch writeUnprotected(into: &datagram, at: moment) {
    case nil: return (0, nil)
    case .again(let number):
      return sent(sentPackets?.write(number, into: &datagram) ?? 0, nil, moment.now)
    case .written(let count, let number, let isRepair):
      let protected = transport.protectRTP(&datagram, count: count)
      guard protected > 0 else { return (0, nil) }
      if !hasRTX { keep(number, datagram.span.extracting(0..<protected)) }
      return sent(protected, isRepair ? .repair : .video, moment.now)
    case .forwardErrorCorrection(let count, let number):
      let protected = transport.protectRTP(&datagram, count: count)
      guard protected > 0 else { return (0, nil) }
      if let number, !hasRTX { keep(number, datagram.span.extracting(0..<protected)) }
      return sent(protected, .fec, moment.now)
    }
  }

  /// Stores the bytes as they left, which only codecs without RTX need.
  private mutating func keep(_ number: SequenceNumber, _ packet: Span<UInt8>) {
    if sentPackets == nil { sentPackets = SentPacketCache() }
    sentPackets!.keep(number, packet)
  }

  private mutating func sent(
    _ count: Int, _ kind: SentPacket.Kind?, _ now: Timestamp
  ) -> (count: Int, kind: SentPacket.Kind?) {
    guard count > 0 else { return (0, nil) }
    lastSent = now
    countSent(bytes: count, isRepair: kind == .repair || kind == nil)
    if forgetDeadline == .distantFuture { forgetDeadline = now + Self.forgettingInterval }
    return (count, kind)
  }

  /// Counts a protected datagram that left.
  private mutating func countSent(bytes: Int, isRepair: Bool) {
    statistics.bytesSent += UInt64(bytes)
    if isRepair { statistics.bytesRetransmitted += UInt64(bytes) }
  }

  /// Writes the next waiting packet, unprotected, at the start of `datagram`.
  /// - Returns: nil when nothing waits.
  @_lifetime(datagram: copy datagram)
  package mutating func writeUnprotected(
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
    guard let packet = nextMediaPacket(moment) else { return nil }
    cache.insert(packet)
    statistics.packetsSent += 1
    statistics.payloadBytesSent += UInt64(packet.payload.count)
    return .written(
      count: write(packet, rtx: nil, into: &datagram, at: moment), number: packet.number, isRepair: false)
  }

  private mutating func nextMediaPacket(_ moment: DepartureFields) -> RetransmissionCache.Packet? {
    guard let next = queue.next() else { return nil }
    if let packets = next.packetsOfNewFrame { protection.begin(packets: packets, headers.format.fec) }
    var packet = RetransmissionCache.Packet(
      number: nextSequence, timestamp: next.timestamp, payload: next.payload, payloadTypes: next.payloadTypes,
      sent: moment.now, transportNumber: moment.transportNumber, frame: next.frame)
    packet.isProtected = protection.isActive
    nextSequence = nextSequence.advanced(by: 1)
    framePackets += 1
    if next.payload.isLast {
      if framePackets <= Self.maximumCopied {
        copies.add(last: packet.number, count: framePackets, moment.now)
      }
      framePackets = 0
      statistics.sendDelay = statistics.sendDelay + (moment.now - next.queued)
      statistics.framesSent += 1
      if packet.frame.isKeyFrame {
        statistics.keyFramesSent += 1
        keyFrameSent = moment.now
      }
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
      ssrc: rtx == nil ? headers.identity.ssrc : headers.identity.rtxSSRC, marker: packet.payload.isLast,
      extensions: headers.extensions(for: packet.frame))
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: headers.format.extensionMap)
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
    guard let fec = headers.format.fec else { return nil }
    var number: SequenceNumber?
    var header: RTPOutgoingHeader
    switch fec {
    case .flexFEC(let payloadType):
      header = headers.repairHeader(payloadType, protection.takeSequenceNumber(), protection.encoder.blockTimestamp)
      header.ssrc = headers.identity.fecSSRC
    case .ulpfec(_, let red):
      header = headers.repairHeader(red, nextSequence, protection.encoder.blockTimestamp)
      number = nextSequence
      noteRepair(nextSequence, moment)
      nextSequence = nextSequence.advanced(by: 1)
      statistics.packetsSent += 1
    }
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: headers.format.extensionMap)
    protection.encoder.writeNext(fec, ssrc: headers.identity.ssrc, into: &writer)
    let count = writer.offset
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    statistics.fecPacketsSent += 1
    statistics.fecBytesSent += UInt64(count)
    return .forwardErrorCorrection(count: count, number: number)
  }

  /// A repair packet in the media's numbers that is lost is requested as media is: it is sent again as padding, which
  /// says that nothing is missing.
  private mutating func noteRepair(_ number: SequenceNumber, _ moment: DepartureFields) {
    guard let frame = protection.frame else { return }
    cache.insert(
      RetransmissionCache.Packet(
        number: number, timestamp: protection.encoder.blockTimestamp,
        payload: PayloadPiece(prefix: PayloadPrefix(), range: 0..<0, isLast: false), payloadTypes: frame.payloadTypes,
        sent: moment.now, transportNumber: moment.transportNumber, frame: frame.bytes), isMedia: false)
  }

  /// Writes the latest packet as padding at the start of `datagram`, protected; for a remote peer with RTX.
  /// - Returns: its length, 0 when there is nothing to make it of.
  @_lifetime(datagram: copy datagram)
  package mutating func writePadding(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields, over transport: inout Transport
  ) -> Int {
    guard maySend, let count = writeUnprotectedPadding(into: &datagram, at: moment) else { return 0 }
    let protected = transport.protectRTP(&datagram, count: count)
    countSent(bytes: protected, isRepair: false)
    return protected
  }

  @_lifetime(datagram: copy datagram)
  private mutating func writeUnprotectedPadding(
    into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields
  ) -> Int? {
    guard let packet = cache.newestPacket else { return writeEmpty(into: &datagram, at: moment) }
    guard let rtx = packet.payloadTypes.rtx else { return nil }
    return write(packet, rtx: rtx, renumbers: false, into: &datagram, at: moment)
  }

  /// Writes a packet of nothing but padding (RFC 3550 §5.1) into the stream of retransmissions.
  @_lifetime(datagram: copy datagram)
  private mutating func writeEmpty(into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields) -> Int? {
    guard let rtx = headers.format.firstRTX else { return nil }
    var header = headers.repairHeader(rtx, nextRTXSequence, headers.rtpTimestamp(moment.now))
    header.ssrc = headers.identity.rtxSSRC
    header.extensions.mid = headers.format.mid
    nextRTXSequence = nextRTXSequence.advanced(by: 1)
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: headers.format.extensionMap)
    writer.write(repeating: 0, count: Self.paddingSize - 1)
    writer.write(UInt8(Self.paddingSize))
    let count = writer.offset
    datagram[0] |= RTPHeader.paddingFlag
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    return count
  }

  // MARK: - Retransmission

  /// Queues the packets whose time has come, where packets are lost; drops them where none are.
  /// - Parameter loss: packet loss lately, 0…1.
  /// - Returns: true when something waits now.
  mutating func queueCopies(_ now: Timestamp, loss: Double) -> Bool {
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
  mutating func abandonLateRepair(rate: BitRate) -> Bool {
    guard cache.queuedCount > 8 else { return false }
    let bytes = cache.queuedBytes
    guard bytes > Self.leastRepair, rate.time(forBytes: bytes) > Self.maximumRepairTime else { return false }
    if queue.hasKeyFrame {
      // A key frame is on its way already, so earlier frames are not needed any more.
      if queue.beginsWithKeyFrame { forgetSent() }
      return false
    }
    statistics.repairsAbandoned += 1
    queue.dropAll(counting: &statistics)
    framePackets = 0
    forgetSent()
    return true
  }

  /// Queues the latest packets again, back to the last one with feedback.
  mutating func repairTail(_ history: SentPacketHistory, now: Timestamp) {
    cache.requestTail(limit: Self.maximumTail, now: now, history: history)
  }

  /// True when the latest packet is known to have arrived, or was sent so long ago that it is forgotten.
  func hasTailArrived(_ history: SentPacketHistory) -> Bool {
    cache.newestTransportNumber.map { history.hasArrived($0) } ?? true
  }

  /// Removes frames that will not be requested any more.
  /// - Returns: false if nothing is left.
  mutating func forgetOld(_ now: Timestamp) -> Bool { cache.removeAll(before: now - Self.historyTime) }
}
