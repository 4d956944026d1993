internal import RTCCapture
internal import RTCWire
internal import RTCMedia
internal import RTCPrimitives

/// The description of the pictures in a file's header, which is written once, before the first of them.
struct RecordedPictures: Equatable {
  var codec: VideoCodec
  var size: PixelSize
  var profile: Int
  /// Parameter sets of H.264 (Annex B), the sequence header of AV1.
  var headers: [UInt8]
  var rotation: VideoRotation
  var colorSpace: ColorSpace?

  /// Read from a key frame; nil when it holds no headers.
  init?(_ frame: EncodedFrame) {
    codec = frame.codec
    size = frame.size
    rotation = frame.rotation
    colorSpace = frame.colorSpace
    (profile, headers) = (0, [])
    switch frame.codec {
    case .vp8: break
    case .vp9: profile = VP9FrameHeader(parsing: frame.data.span)?.profile ?? 0
    case .h264:
      let empty: [UInt8] = []
      guard var rewriter = H264Rewriter(extradata: empty.span), rewriter.rewrite(frame.data.span) != nil,
        let set = rewriter.activeSet
      else { return nil }
      headers = rewriter.parameterSets
      profile = Int(set.profile)
    case .av1:
      let empty: [UInt8] = []
      var rewriter = AV1Rewriter(extradata: empty.span)
      guard rewriter.rewrite(frame.data.span) != nil, let header = rewriter.sequenceHeader else { return nil }
      headers = rewriter.sequenceHeaderUnit
      profile = header.profile
    }
  }
}
