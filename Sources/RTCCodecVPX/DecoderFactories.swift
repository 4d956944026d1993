public import RTCMedia

extension VP8Decoder {
  public static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP8Decoder() } }
}

extension VP9Decoder {
  public static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP9Decoder() } }
}
