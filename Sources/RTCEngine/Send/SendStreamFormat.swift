package import RTCMedia
package import RTCPrimitives
package import RTCWire

/// The numbers a codec goes out under.
package struct CodecPayloadTypes: Hashable, Sendable {
  package var media: PayloadType
  /// Nil when the remote peer takes no RTX; packets asked for are then sent again as they were.
  package var rtx: PayloadType?

  package init(media: PayloadType, rtx: PayloadType?) {
    self.media = media
    self.rtx = rtx
  }
}

/// How one outgoing video was negotiated.
package struct SendStreamFormat: Sendable {
  /// Nil when the descriptions name no m-section, or by a name too long for the header extension.
  package var mid: RTPStreamID?
  /// The codecs that the remote peer accepts, the best first.
  package var codecs: [(format: VideoPayloadFormat, payloadTypes: CodecPayloadTypes)]
  package var extensionMap: RTPHeaderExtensionMap
  /// Nil when the remote peer takes no repair packets.
  package var fec: FECFormat?

  package init(
    mid: RTPStreamID?, codecs: [(format: VideoPayloadFormat, payloadTypes: CodecPayloadTypes)],
    extensionMap: RTPHeaderExtensionMap, fec: FECFormat? = nil
  ) {
    self.mid = mid
    self.codecs = codecs
    self.extensionMap = extensionMap
    self.fec = fec
  }

  /// Contains known codecs only, since it results from our offer or answer.
  init(_ media: NegotiatedMedia) {
    mid = media.reference.mid.flatMap { RTPStreamID($0) }
    codecs = media.sendCodecs.compactMap { codec in
      VideoPayloadFormat(codec.capability).map {
        ($0, CodecPayloadTypes(media: codec.payloadType, rtx: codec.rtxPayloadType))
      }
    }
    extensionMap = media.extensionMap
    fec = FECFormat(media.sendRepairs)
  }

  static func != (a: Self, b: Self) -> Bool {
    a.mid != b.mid || a.extensionMap != b.extensionMap || a.fec != b.fec
      || !a.codecs.elementsEqual(b.codecs) { $0.format == $1.format && $0.payloadTypes == $1.payloadTypes }
  }

  var supportsColorSpace: Bool { extensionMap[.colorSpace] != nil }

  /// Whether the remote peer rotates pictures as signaled.
  var supportsOrientation: Bool { extensionMap[.videoOrientation] != nil }

  /// A number under which RTX is taken; nil: under none.
  var firstRTX: PayloadType? { codecs.lazy.compactMap(\.payloadTypes.rtx).first }

  func takes(_ codec: VideoCodec) -> Bool { codecs.contains { $0.format.codec == codec } }

  /// The numbers for the frames that `keyFrame` begins; nil when its codec was not agreed.
  package func payloadTypes(for keyFrame: EncodedFrame) -> CodecPayloadTypes? {
    let fitting = codecs.lazy.filter { $0.format.codec == keyFrame.codec }
    guard let first = fitting.first else { return nil }
    // Several profiles may be agreed; the stream itself says which it is.
    guard let stream = VideoPayloadFormat(keyFrame: keyFrame) else { return first.payloadTypes }
    let best =
      fitting.first { $0.format.h264?.profile == stream.h264?.profile && $0.format.takes(stream) }
      ?? fitting.first { $0.format.takes(stream) }
    return (best ?? first).payloadTypes
  }
}
