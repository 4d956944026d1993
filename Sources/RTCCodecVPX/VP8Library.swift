import CVPX

extension VP8Encoder {
  /// Name and version of the library, such as `libvpx v1.12.0`.
  package static var library: String { "libvpx " + (unsafe String(cString: vpx_codec_version_str())) }
}
