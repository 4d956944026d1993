package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// Identity of one outgoing sound and the numbers it counts from.
package struct AudioSendIdentity: Sendable {
  package var ssrc: SSRC
  /// The CNAME of all streams of a peer (RFC 7022), which shows that they belong together.
  package var cname: String
  package var firstSequenceNumber: SequenceNumber
  package var timestampOffset: RTPTimestamp

  package init(
    ssrc: SSRC, cname: String, firstSequenceNumber: SequenceNumber, timestampOffset: RTPTimestamp
  ) {
    self.ssrc = ssrc
    self.cname = cname
    self.firstSequenceNumber = firstSequenceNumber
    self.timestampOffset = timestampOffset
  }
}

/// How one outgoing sound was negotiated.
package struct AudioSendFormat: Sendable {
  /// Nil when the descriptions name no m-section, or by a name too long for the header extension.
  package var mid: RTPStreamID?
  package var payloadType: PayloadType
  package var extensionMap: RTPHeaderExtensionMap
  /// The payload type of packets that repeat the one before (RFC 2198); nil if the remote peer does not accept it.
  package var red: PayloadType?

  package init(
    mid: RTPStreamID?, payloadType: PayloadType, extensionMap: RTPHeaderExtensionMap, red: PayloadType? = nil
  ) {
    self.mid = mid
    self.payloadType = payloadType
    self.extensionMap = extensionMap
    self.red = red
  }
}

/// Sends one audio: each Opus packet in one RTP packet (RFC 7587), at once. Retransmissions would arrive too late: Opus
/// has its own repair, and at high loss each packet has a copy of the one before (RFC 2198).
package struct AudioSendStream {
  let identity: AudioSendIdentity
  private var format: AudioSendFormat
  private var nextSequence: SequenceNumber
  /// The position and capture time of the newest packet.
  private var newest: (position: Int64, captureTime: Timestamp)?
  /// The packet before, while packets are sent twice.
  private var previous: EncodedAudioFrame?
  /// Each packet is to bring the one before, where the remote peer takes that.
  package private(set) var isRedundant = false
  package private(set) var statistics = AudioSendStatistics()

  /// The largest UDP payload: an Opus packet cannot be split (RFC 7587 §4.2), so it may fill what Ethernet carries over
  /// IPv6.
  package static let maximumPacketSize = 1_452
  /// The RTP clock rate per second, whatever the sampling rate (RFC 7587 §4.1).
  package static let clockRate: Int64 = 48_000

  package init(identity: AudioSendIdentity, format: AudioSendFormat) {
    self.identity = identity
    self.format = format
    nextSequence = identity.firstSequenceNumber
  }

  /// Changes the payload types and extensions from the next packet on.
  package mutating func setFormat(_ format: AudioSendFormat) { self.format = format }

  /// From the next packet on.
  package mutating func setRedundant(_ isRedundant: Bool) {
    self.isRedundant = isRedundant
    if !isRedundant { previous = nil }
  }

  /// True when what leaves carries a transport-wide number.
  package var usesTransportNumbers: Bool { format.extensionMap[.transportSequenceNumber] != nil }

  /// Writes `frame`'s packet, unprotected, at the start of `datagram`.
  /// - Returns: its length; 0 for a frame that fits into no packet, which is counted and left out.
  @_lifetime(datagram: copy datagram)
  package mutating func write(
    _ frame: EncodedAudioFrame, into datagram: inout MutableSpan<UInt8>, at moment: DepartureFields
  ) -> Int {
    let copy = copiedBefore(frame)
    let header = RTPOutgoingHeader(
      payloadType: copy == nil ? format.payloadType : format.red ?? format.payloadType, sequenceNumber: nextSequence,
      timestamp: rtpTimestamp(position: frame.position), ssrc: identity.ssrc,
      marker: frame.startsTalkSpurt || statistics.packetsSent == 0, extensions: extensions(frame.level))
    let size = header.size(map: format.extensionMap) + frame.data.count
    guard !frame.data.isEmpty, size + VideoPacketHeaders.srtpOverhead <= Self.maximumPacketSize else {
      statistics.framesUnfit += 1
      return 0
    }
    var writer = ByteWriter(datagram._mutatingExtracting(0..<datagram.count))
    let late = header.write(into: &writer, map: format.extensionMap)
    if let copy {
      REDBlock.writeRedundantHeader(
        format.payloadType, timestampOffset: UInt32(frame.position - copy.position), count: copy.data.count,
        into: &writer)
      REDBlock.writePrimaryHeader(format.payloadType, into: &writer)
      writer.write(copy.data.span)
      statistics.redundantPacketsSent += 1
    }
    writer.write(frame.data.span)
    let count = writer.offset
    late.patch(&datagram, absSendTime: AbsoluteSendTime(moment.now), transportSequenceNumber: moment.transportNumber)
    nextSequence = nextSequence.advanced(by: 1)
    newest = (frame.position, frame.captureTime)
    if isRedundant, format.red != nil { previous = frame }
    statistics.packetsSent += 1
    statistics.payloadBytesSent += UInt64(frame.data.count)
    return count
  }

  /// The packet before, if it is to be repeated with `frame` and can be: it must not be too old, and both must fit.
  private func copiedBefore(_ frame: EncodedAudioFrame) -> EncodedAudioFrame? {
    guard isRedundant, format.red != nil, let previous else { return nil }
    let distance = frame.position - previous.position
    guard (1...Int64(REDBlock.maximumTimestampOffset)).contains(distance),
      previous.data.count <= REDBlock.maximumRedundantSize,
      previous.data.count + frame.data.count <= Self.maximumRedundantPayload
    else { return nil }
    return previous
  }
  /// The maximum of both blocks of a packet together: the rest of 1,200 bytes.
  private static let maximumRedundantPayload = 1_100

  /// Counts a protected datagram that left.
  package mutating func countSent(bytes: Int) { statistics.bytesSent += UInt64(bytes) }

  /// Records the remote peer's report.
  /// - Returns: the fraction lost, 0…1, if it has changed.
  package mutating func report(fractionLost: Double, jitter: UInt32) -> Double? {
    statistics.jitter = jitter
    guard fractionLost != statistics.fractionLost else { return nil }
    statistics.fractionLost = fractionLost
    return fractionLost
  }

  /// The RTP timestamp of `time` on the monotonic clock, as sender reports say it: reckoned from the newest packet, whose
  /// position and capture time are both known. Nil before the first packet.
  package func rtpTimestamp(at time: Timestamp) -> RTPTimestamp? {
    guard let newest else { return nil }
    let elapsed = (time - newest.captureTime).ticks(atRate: Self.clockRate)
    return rtpTimestamp(position: newest.position &+ elapsed)
  }

  private func rtpTimestamp(position: Int64) -> RTPTimestamp {
    RTPTimestamp(UInt32(truncatingIfNeeded: position) &+ identity.timestampOffset.value)
  }

  private func extensions(_ level: AudioLevel?) -> RTPOutgoingExtensions {
    var extensions = RTPOutgoingExtensions()
    extensions.audioLevel = level.map { AudioLevelIndication(level: $0, hasVoice: $0.isHeard) }
    extensions.mid = format.mid
    extensions.absSendTime = .placeholder
    extensions.transportSequenceNumber = .placeholder
    return extensions
  }
}
