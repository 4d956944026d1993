internal import CFFmpeg
internal import RTCMedia

/// Turns frames of one format and size into I420 of limited range, or BGRA, of the same size or another. Used by one thread.
final class PictureConverter {
  struct Key: Hashable {
    var size: PixelSize
    var targetSize: PixelSize
    var source: AVPixelFormat
    var target: PixelFormat
    var color: PictureColor

    static func == (a: Key, b: Key) -> Bool {
      a.size == b.size && a.targetSize == b.targetSize && a.source == b.source && a.target == b.target
        && a.color == b.color
    }

    func hash(into hasher: inout Hasher) {
      hasher.combine(size)
      hasher.combine(source.rawValue)
    }
  }

  let key: Key
  private let context: OpaquePointer

  /// Nil when swscale does not know the format.
  init?(_ key: Key) {
    self.key = key
    guard let context = sws_alloc_context() else { return nil }
    self.context = context
    let options: [(String, Int64)] = [
      ("srcw", Int64(key.size.width)), ("srch", Int64(key.size.height)), ("src_format", Int64(key.source.rawValue)),
      ("dstw", Int64(key.targetSize.width)), ("dsth", Int64(key.targetSize.height)),
      ("dst_format", Int64(key.target == .bgra ? AV_PIX_FMT_BGR0.rawValue : AV_PIX_FMT_YUV420P.rawValue)),
      ("src_range", key.color.isFullRange ? 1 : 0), ("dst_range", key.target == .bgra ? 1 : 0),
      ("sws_flags", Int64(SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT)),
    ]
    for (name, value) in options where av_opt_set_int(UnsafeMutableRawPointer(context), name, value, 0) < 0 {
      return nil
    }
    guard sws_init_context(context, nil, nil) >= 0 else { return nil }
    let target = key.color.delivered == .bt601Limited ? SWS_CS_ITU601 : SWS_CS_ITU709
    // -1 where there is nothing to choose, as from RGB to RGB.
    _ = sws_setColorspaceDetails(
      context, sws_getCoefficients(Int32(key.color.matrix.rawValue)), key.color.isFullRange ? 1 : 0,
      sws_getCoefficients(target), key.target == .bgra ? 1 : 0, 0, 1 << 16, 1 << 16)
  }

  deinit { sws_freeContext(context) }

  /// Writes the whole picture; false when swscale refuses.
  func convert(_ frame: UnsafeMutablePointer<AVFrame>, into planes: [(base: UnsafeMutablePointer<UInt8>, stride: Int)])
    -> Bool
  {
    var targets: [UnsafeMutablePointer<UInt8>?] = planes.map(\.base)
    var strides = planes.map { Int32($0.stride) }
    while targets.count < 4 {
      targets.append(nil)
      strides.append(0)
    }
    let rows = withUnsafeBytes(of: &frame.pointee.data) { data in
      withUnsafeBytes(of: &frame.pointee.linesize) { lines in
        let sources = data.bindMemory(to: UnsafePointer<UInt8>?.self)
        return sws_scale(
          context, sources.baseAddress!, lines.bindMemory(to: Int32.self).baseAddress!, 0, Int32(key.size.height),
          targets, strides)
      }
    }
    return rows == key.targetSize.height
  }
}
