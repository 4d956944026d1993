import RTCMedia
import RTCPrimitives
import RTCWire

/// What offer and answer came to for one incoming video.
struct VideoAgreement {
  /// What our payload types mean.
  private var formats: [(codec: VideoCodec, payloadTypes: CodecPayloadTypes)] = []
  /// What both sides use of RTCP feedback, whatever the codec.
  let feedback: FeedbackMechanisms

  /// Nil when nothing is received.
  init?(_ media: NegotiatedMedia) {
    guard let first = media.receiveCodecs.first else { return nil }
    feedback = media.receiveCodecs.reduce(first.feedback) { $0.intersection($1.feedback) }
    for codec in media.receiveCodecs {
      guard let format = VideoPayloadFormat(codec.capability) else { continue }
      formats.append((format.codec, CodecPayloadTypes(media: codec.payloadType, rtx: codec.rtxPayloadType)))
    }
  }

  /// The sender goes by our estimate, as it gets no transport-wide feedback.
  var needsRateEstimate: Bool { feedback.contains(.remb) && !feedback.contains(.transportCC) }

  /// What may come, retransmissions included.
  var payloadTypes: [PayloadType] {
    formats.flatMap { [$0.payloadTypes.media, $0.payloadTypes.rtx].compactMap(\.self) }
  }

  /// Nil for payload types that were not agreed.
  func meaning(of payloadType: PayloadType) -> (codec: VideoCodec, isRTX: Bool)? {
    for format in formats {
      if format.payloadTypes.media == payloadType { return (format.codec, false) }
      if format.payloadTypes.rtx == payloadType { return (format.codec, true) }
    }
    return nil
  }
}
