import RTCMedia
import RTCPrimitives
import RTCWire

/// Identity of one outgoing video and the numbers it counts from.
struct SendStreamIdentity {
  var ssrc: SSRC
  var rtxSSRC: SSRC
  var cname: String
  var firstSequenceNumber: SequenceNumber
  var timestampOffset: RTPTimestamp
  var firstPictureID: UInt16
}

/// How one outgoing video was negotiated.
struct SendStreamFormat {
  var mid: RTPStreamName
  var payloadType: PayloadType
  /// Nil when the far side takes no RTX; packets asked for are then sent again as they were.
  var rtxPayloadType: PayloadType?
  var extensionMap: RTPHeaderExtensionMap
}

/// The values that are known only when a packet leaves.
struct SendMoment {
  var now: Timestamp
  var transportNumber: TransportSequenceNumber
}

/// Sends one video: splits frames into packets, remembers them for repair, and sends again what is asked for.
///
/// Payload bytes stay in the encoded frame, which all viewers share; they are copied once, into the datagram.
struct VideoSendStream {
  private struct Pending {
    var frame: FrameBytes
    var split: PacketSplit
    var next = 0
    var timestamp: RTPTimestamp
    var pictureID: UInt16
    var queued: Timestamp
  }

  let identity: SendStreamIdentity
  let format: SendStreamFormat
  private var pending: [Pending] = []
  private var repairs: [RetransmissionCache.Packet] = []
  private var cache = RetransmissionCache()
  private var nextSequence: SequenceNumber
  private var nextRTXSequence: SequenceNumber
  private var nextPictureID: UInt16
  /// What the viewer's decoder can use next.
  private var decodable = Decodable.keyFrameOnly

  private enum Decodable {
    /// It has no picture, or a frame was left out: nothing but a key frame.
    case keyFrameOnly
    /// The frame with this number continues its picture.
    case frame(UInt64)
  }

  private(set) var statistics = SendStatistics()

  /// The largest UDP payload: what passes everywhere the web's own peers pass.
  static let maximumPacketSize = 1200
  /// SRTP's tag in the larger profile (AEAD_AES_128_GCM: 16 bytes).
  static let srtpOverhead = 16
  /// Picture identifier of 15 bits: the four-byte form of the payload descriptor.
  static let descriptorSize = 4
  /// A frame queued longer than this is stale: the network does not keep up, and the next key frame serves better.
  static let maximumQueueTime = TimeDelta.milliseconds(600)
  /// After this long without a frame, what was sent will not be asked for any more.
  static let historyTime = TimeDelta.seconds(5)

  init(identity: SendStreamIdentity, format: SendStreamFormat) {
    self.identity = identity
    self.format = format
    nextSequence = identity.firstSequenceNumber
    nextRTXSequence = identity.firstSequenceNumber.advanced(by: 0x2000)
    nextPictureID = identity.firstPictureID & 0x7FFF
    pending.reserveCapacity(8)
  }

  /// True while the viewer cannot use anything but a key frame.
  var needsKeyFrame: Bool { if case .keyFrameOnly = decodable { true } else { false } }
  /// True when a packet waits for the pacer.
  var hasPending: Bool { !repairs.isEmpty || !pending.isEmpty }

  // MARK: - Frames in

  /// Queues `frame`, or leaves it out when the viewer could not decode it.
  /// - Returns: false when a key frame is needed before anything can be sent.
  mutating func enqueue(_ frame: EncodedFrame, now: Timestamp) -> Bool {
    dropStaleQueue(now)
    if !frame.isKeyFrame {
      guard case .frame(frame.number) = decodable else {
        decodable = .keyFrameOnly
        statistics.framesSkipped += 1
        return false
      }
    } else {
      cutQueue()  // a key frame makes everything before it needless
      statistics.keyFramesSent += 1
    }
    decodable = .frame(frame.number + 1)
    statistics.framesSent += 1
    let bytes = FrameBytes(frame)
    let ticks = UInt32(truncatingIfNeeded: frame.captureTime.nanoseconds / 1_000 * 9 / 100)  // 90 kHz
    let timestamp = RTPTimestamp(ticks &+ identity.timestampOffset.value)
    let split = PacketSplit(frameSize: frame.data.count, maximumPayload: maximumPayload(of: bytes))
    pending.append(
      Pending(frame: bytes, split: split, timestamp: timestamp, pictureID: nextPictureID, queued: now))
    nextPictureID = (nextPictureID + 1) & 0x7FFF
    return true
  }

  private func maximumPayload(of frame: FrameBytes) -> Int {
    let header = RTPOutgoingHeader(
      payloadType: format.payloadType, sequenceNumber: nextSequence, timestamp: RTPTimestamp(0), ssrc: identity.ssrc,
      extensions: extensions(for: frame))
    return Self.maximumPacketSize - Self.srtpOverhead - header.size(map: format.extensionMap)
      - Self.descriptorSize - RTXPayloadHeader.size
  }

  private mutating func dropStaleQueue(_ now: Timestamp) {
    guard let oldest = pending.first, now - oldest.queued > Self.maximumQueueTime else { return }
    cutQueue()
    decodable = .keyFrameOnly
  }

  /// Drops whole frames that have not begun to leave.
  private mutating func cutQueue() {
    let before = pending.count
    pending.removeAll { $0.next == 0 }
    statistics.framesSkipped += UInt64(before - pending.count)
  }

  // MARK: - Packets out

  /// Writes the next waiting packet, unprotected, at the start of `datagram`.
  /// - Returns: its length, 0 when nothing waits.
  mutating func writeNext(into datagram: inout MutableSpan<UInt8>, at moment: SendMoment) -> Int {
    if !repairs.isEmpty {
      let packet = repairs.removeFirst()
      statistics.packetsRetransmitted += 1
      return write(packet, asRepair: true, into: &datagram, at: moment)
    }
    guard !pending.isEmpty else { return 0 }
    let packet = takeNextMediaPacket(moment.now)
    cache.insert(packet)
    statistics.packetsSent += 1
    statistics.payloadBytesSent += UInt64(packet.payload.count + Self.descriptorSize)
    return write(packet, asRepair: false, into: &datagram, at: moment)
  }

  /// Counts a protected datagram that left.
  mutating func countSent(bytes: Int) { statistics.bytesSent += UInt64(bytes) }

  private mutating func takeNextMediaPacket(_ now: Timestamp) -> RetransmissionCache.Packet {
    let frame = pending[0]
    let isLast = frame.next == frame.split.count - 1
    let packet = RetransmissionCache.Packet(
      number: nextSequence, timestamp: frame.timestamp, payload: frame.split.range(of: frame.next),
      pictureID: frame.pictureID, isFirst: frame.next == 0, isLast: isLast, lastSent: now, frame: frame.frame)
    nextSequence = nextSequence.advanced(by: 1)
    if isLast {
      statistics.sendDelay = statistics.sendDelay + (now - frame.queued)
      pending.removeFirst()
    } else {
      pending[0].next += 1
    }
    return packet
  }

  private mutating func write(
    _ packet: RetransmissionCache.Packet, asRepair: Bool, into datagram: inout MutableSpan<UInt8>,
    at moment: SendMoment
  ) -> Int {
    let rtx = asRepair ? format.rtxPayloadType : nil
    let header = RTPOutgoingHeader(
      payloadType: rtx ?? format.payloadType, sequenceNumber: rtx == nil ? packet.number : nextRTXSequence,
      timestamp: packet.timestamp, ssrc: rtx == nil ? identity.ssrc : identity.rtxSSRC, marker: packet.isLast,
      extensions: extensions(for: packet.frame))
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: format.extensionMap)
    if rtx != nil {
      nextRTXSequence = nextRTXSequence.advanced(by: 1)
      RTXPayloadHeader(originalSequenceNumber: packet.number).write(into: &writer)
    }
    VP8PayloadDescriptor(startsPartition: packet.isFirst, pictureID: VP8PictureID(packet.pictureID)).write(
      into: &writer)
    writer.write(packet.frame.data.span.extracting(packet.payload))
    let count = writer.offset
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    return count
  }

  /// The same extensions on all packets of a frame: equal headers make equal packet sizes, which leave in one send.
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
    return extensions
  }

  // MARK: - Feedback

  /// Queues the packet a NACK asks for, unless it was sent again less than `interval` ago or is forgotten.
  mutating func repair(_ number: SequenceNumber, now: Timestamp, interval: TimeDelta) {
    statistics.nackedPackets += 1
    guard let packet = cache.take(number, now: now, interval: interval) else { return }
    repairs.append(packet)
  }

  mutating func countNACK() { statistics.nackCount += 1 }

  /// The viewer lost the picture (PLI or FIR). Until the next key frame it can use nothing.
  mutating func countKeyFrameRequest(isFIR: Bool) {
    if isFIR { statistics.firCount += 1 } else { statistics.pliCount += 1 }
  }

  mutating func report(fractionLost: Double, jitter: UInt32) {
    statistics.fractionLost = fractionLost
    statistics.jitter = jitter
  }

  /// Lets go of frames nobody will ask for any more.
  mutating func forgetOld(_ now: Timestamp) { cache.removeAll(before: now - Self.historyTime) }

  /// The RTP timestamp of `now`, for sender reports.
  func rtpTimestamp(_ now: Timestamp) -> RTPTimestamp {
    RTPTimestamp(UInt32(truncatingIfNeeded: now.nanoseconds / 1_000 * 9 / 100) &+ identity.timestampOffset.value)
  }
}
