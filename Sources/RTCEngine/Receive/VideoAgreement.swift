import RTCMedia
import RTCPrimitives
import RTCWire

/// The negotiated properties of one incoming video.
struct VideoAgreement {
  /// The codecs by payload type.
  private var formats: [(codec: VideoCodec, payloadTypes: CodecPayloadTypes)] = []
  /// The RTCP feedback that both sides use, for all codecs.
  let feedback: FeedbackMechanisms
  /// The header extensions by number.
  let extensionMap: RTPHeaderExtensionMap
  /// The payload type of packets that wrap others (RFC 2198), with that of their retransmissions.
  private var red: CodecPayloadTypes?
  /// The payload type of repair packets within RED (RFC 5109).
  private(set) var ulpfec: PayloadType?
  /// The payload type of repair packets in a stream of their own.
  private var flexFEC: PayloadType?

  /// The meaning of a payload type.
  enum Meaning: Hashable {
    case media(VideoCodec)
    /// A retransmission (RFC 4588).
    case rtx(VideoCodec)
    /// A block of media or of repair data.
    case red
    /// A retransmission of such.
    case redRTX
    case flexFEC
  }

  /// Nil when nothing is received.
  init?(_ media: NegotiatedMedia) {
    guard let first = media.receiveCodecs.first else { return nil }
    feedback = media.receiveCodecs.reduce(first.feedback) { $0.intersection($1.feedback) }
    extensionMap = media.extensionMap
    for codec in media.receiveRepairs {
      switch codec.capability.name {
      case "red": red = CodecPayloadTypes(media: codec.payloadType, rtx: codec.rtxPayloadType)
      case "ulpfec": ulpfec = codec.payloadType
      default: flexFEC = codec.payloadType
      }
    }
    for codec in media.receiveCodecs {
      guard let format = VideoPayloadFormat(codec.capability) else { continue }
      formats.append((format.codec, CodecPayloadTypes(media: codec.payloadType, rtx: codec.rtxPayloadType)))
    }
  }

  /// The sender goes by our estimate, as it gets no transport-wide feedback.
  var needsRateEstimate: Bool { feedback.contains(.remb) && !feedback.contains(.transportCC) }

  /// The payload types that may arrive, including retransmissions.
  var payloadTypes: [PayloadType] {
    formats.flatMap { [$0.payloadTypes.media, $0.payloadTypes.rtx].compactMap(\.self) }
      + [red?.media, red?.rtx, flexFEC].compactMap(\.self)
  }

  /// Nil for payload types that were not agreed.
  func meaning(of payloadType: PayloadType) -> Meaning? {
    for format in formats {
      if format.payloadTypes.media == payloadType { return .media(format.codec) }
      if format.payloadTypes.rtx == payloadType { return .rtx(format.codec) }
    }
    if payloadType == flexFEC { return .flexFEC }
    if payloadType == red?.media { return .red }
    return payloadType == red?.rtx ? .redRTX : nil
  }

  /// The codec of media packets of this payload type; nil for all others.
  func codec(of payloadType: PayloadType) -> VideoCodec? {
    if case .media(let codec) = meaning(of: payloadType) { codec } else { nil }
  }
}
