internal import CFFmpeg

/// FFmpeg's libraries on this machine, in the version that this program was compiled for.
package enum FFmpegLibraries {
  /// Which library cannot be loaded, in the dynamic linker's words; nil: all of them are there. Loads them.
  package static var missing: String? { cffmpeg_missing().map { String(cString: $0) } }
}
