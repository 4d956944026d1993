/// A video codec, by its RTP encoding name.
public enum VideoCodec: String, Hashable, Sendable, CaseIterable {
  /// RFC 6386; RTP payload format RFC 7741.
  case vp8 = "VP8"
  /// RTP payload format RFC 9628.
  case vp9 = "VP9"
  /// ITU-T H.264; RTP payload format RFC 6184.
  case h264 = "H264"
  /// AV1 Bitstream & Decoding Process; RTP payload format by the Alliance for Open Media.
  case av1 = "AV1"
}
