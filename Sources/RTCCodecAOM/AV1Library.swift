import CAOM

extension AV1Encoder {
  /// Name and version of the library, such as `libaom 3.6.0`.
  package static var library: String { "libaom " + (unsafe String(cString: aom_codec_version_str())) }
}
