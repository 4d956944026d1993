/// A video codec, by its RTP encoding name.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
  case vp8 = "VP8"
  case vp9 = "VP9"
  case h264 = "H264"
  case av1 = "AV1"
}
