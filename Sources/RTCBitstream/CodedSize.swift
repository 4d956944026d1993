public import RTCMedia

extension VideoCodec {
  /// The size of the picture that `data`, a key frame as `EncodedFrame.data`, is decoded to; nil when it does not say so.
  public func codedSize(of data: Span<UInt8>) -> PixelSize? {
    let empty: [UInt8] = []
    switch self {
    case .vp8:
      // RFC 6386 §9.1: tag, start code, width and height of 14 bits each.
      guard data.count >= 10, data[0] & 1 == 0, data[3] == 0x9D, data[4] == 0x01, data[5] == 0x2A else { return nil }
      let size = PixelSize(
        width: Int(data[6]) | Int(data[7] & 0x3F) << 8, height: Int(data[8]) | Int(data[9] & 0x3F) << 8)
      return size.width > 0 && size.height > 0 ? size : nil
    case .vp9: return VP9FrameHeader(parsing: data)?.size
    case .h264:
      guard var rewriter = H264Rewriter(extradata: empty.span), rewriter.rewrite(data) != nil else { return nil }
      return rewriter.activeSet?.size
    case .av1:
      var rewriter = AV1Rewriter(extradata: empty.span)
      guard rewriter.rewrite(data) != nil else { return nil }
      return rewriter.sequenceHeader?.size
    }
  }
}
