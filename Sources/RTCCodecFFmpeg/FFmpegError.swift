internal import CFFmpeg

/// An error of an FFmpeg library.
package struct FFmpegError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The library's error number.
  package let status: Int32
  /// The call that failed.
  package let call: String

  package init(_ status: Int32, in call: String) {
    self.status = status
    self.call = call
  }

  /// The library's own words, or which library this machine lacks.
  package var description: String {
    if status == cffmpeg_error(ENOSYS), let sentence = Self.lack { return sentence }
    var text = [CChar](repeating: 0, count: 128)
    av_strerror(status, &text, text.count)
    return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Which library this machine lacks, in words.
  package static var missing: String { lack ?? "memory is short" }

  private static var lack: String? {
    cffmpeg_missing().map {
      "FFmpeg is not installed as this program knows it: \(String(cString: $0)); install its libraries"
    }
  }

  /// Throws when `status` is negative, and passes it on otherwise.
  @discardableResult
  package static func check(_ status: Int32, _ call: String) throws(FFmpegError) -> Int32 {
    guard status >= 0 else { throw FFmpegError(status, in: call) }
    return status
  }
}
