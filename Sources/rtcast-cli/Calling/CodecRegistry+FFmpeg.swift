import RTCCaptureFile
import RTCMedia
import RTCast

extension CodecRegistry {
  /// With FFmpeg's decoders for what the standard has none for.
  static var withFFmpeg: CodecRegistry {
    var registry = CodecRegistry.standard
    for codec in FFmpegVideoDecoder.codecs where registry.videoDecoders[codec] == nil {
      registry.register(decoderOf: codec) { () throws(VideoDecoderError) in try FFmpegVideoDecoder(codec) }
    }
    return registry
  }
}
