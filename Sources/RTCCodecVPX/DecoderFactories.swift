package import RTCMedia

extension VP8Decoder {
  /// Makes decoders of one thread, for a `CodecRegistry`; any thread.
  package static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP8Decoder() } }
}

extension VP9Decoder {
  /// Makes decoders of two threads, for a `CodecRegistry`; any thread.
  package static var factory: VideoDecoderFactory { { () throws(VideoDecoderError) in try VP9Decoder() } }
}
