import RTCCaptureFile
import RTCMedia
import RTCast

extension CodecRegistry {
  /// With FFmpeg's decoders for what the standard has none for.
  static var withFFmpeg: CodecRegistry {
    var registry = CodecRegistry.standard
    for (codec, factory) in FFmpegVideoDecoder.factories() where registry.videoDecoders[codec] == nil {
      registry.register(decoderOf: codec, factory: factory)
    }
    return registry
  }
}
