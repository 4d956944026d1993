package import RTCPrimitives
import RTCWire

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

/// The RTP headers of one outgoing video's packets, by its identity and the negotiated format.
package struct VideoPacketHeaders {
  var identity: SendStreamIdentity
  /// Without a codec before sending was agreed.
  var format = SendStreamFormat(mid: nil, codecs: [], extensionMap: RTPHeaderExtensionMap())

  /// The largest UDP payload: it passes wherever the packets of browsers pass.
  package static let maximumPacketSize = 1200
  /// SRTP's tag in the larger profile (AEAD_AES_128_GCM: 16 bytes).
  static let srtpOverhead = 16

  init(identity: SendStreamIdentity) { self.identity = identity }

  /// The RTP timestamp of a moment on the monotonic clock, as in frames captured then and in sender reports.
  func rtpTimestamp(_ time: Timestamp) -> RTPTimestamp {
    RTPTimestamp(RTPTimestamp(video: time).value &+ identity.timestampOffset.value)
  }

  /// The maximum number of payload bytes in a packet of `frame`.
  func maximumPayload(of frame: FrameBytes, _ payloadTypes: CodecPayloadTypes) -> Int {
    let header = RTPOutgoingHeader(
      payloadType: payloadTypes.media, sequenceNumber: SequenceNumber(0), timestamp: RTPTimestamp(0),
      ssrc: identity.ssrc, extensions: extensions(for: frame))
    var overhead = RTXPayloadHeader.size
    if let fec = format.fec {
      // A repair packet is longer than the protected ones by this, and by its own header extensions.
      let own = repairHeader(payloadTypes.media, SequenceNumber(0), RTPTimestamp(0)).size(map: format.extensionMap)
      overhead = max(overhead, fec.overhead + own - RTPHeader.fixedSize)
    }
    return Self.maximumPacketSize - Self.srtpOverhead - header.size(map: format.extensionMap) - overhead
  }

  /// The header of a packet without an m-section: its source is known from the media, or from our description.
  func repairHeader(
    _ payloadType: PayloadType, _ number: SequenceNumber, _ timestamp: RTPTimestamp
  ) -> RTPOutgoingHeader {
    var extensions = RTPOutgoingExtensions()
    extensions.absSendTime = .placeholder
    extensions.transportSequenceNumber = .placeholder
    return RTPOutgoingHeader(
      payloadType: payloadType, sequenceNumber: number, timestamp: timestamp, ssrc: identity.ssrc,
      extensions: extensions)
  }

  /// The extensions of a frame's packets, the same on all: equal headers make equal packet sizes, which are sent by one
  /// call.
  func extensions(for frame: FrameBytes) -> RTPOutgoingExtensions {
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
}
