import RTCMedia
import RTCWire

extension VideoCodec {
  /// The size of the picture that `data`, a key frame as `EncodedFrame.data`, is decoded to; nil when it does not say so.
  func codedSize(of data: Span<UInt8>) -> PixelSize? {
    switch self {
    case .vp8:
      guard let size = VP8FrameHeader(parsing: data)?.keyFrameSize, size.width > 0, size.height > 0 else { return nil }
      return size
    case .vp9: return VP9FrameHeader(parsing: data)?.size
    case .h264:
      // The newest parameter set counts.
      var size: PixelSize?
      var units = H264ByteStream(data)
      while let unit = units.nextUnit(in: data) {
        if let set = H264SequenceParameterSet(parsing: data.extracting(unit)) { size = set.size }
      }
      return size
    case .av1:
      var size: PixelSize?
      var offset = 0
      while let unit = AV1OBU(in: data, at: offset) {
        if unit.header.kind == .sequenceHeader {
          size = AV1SequenceHeader(parsing: data.extracting(unit.payload))?.size ?? size
        }
        offset = unit.payload.upperBound
      }
      return size
    }
  }
}
