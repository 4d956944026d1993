public import RTCMedia

extension [VideoCodec: VideoDecoderFactory] {
  /// VP8 and VP9 by libvpx.
  public static var vpx: Self {
    [
      .vp8: { () throws(VideoDecoderError) in try VP8Decoder() },
      .vp9: { () throws(VideoDecoderError) in try VP9Decoder() },
    ]
  }
}
