package import CFFmpeg
package import RTCMedia
internal import Synchronization

/// How many pictures of a player are out, and how many were copied on their way.
package final class PictureCounters: Sendable {
  private let outstandingCount = Atomic(0)
  private let convertedCount = Atomic(0)

  package init() {}

  /// Leases that were not released yet.
  package var outstanding: Int { outstandingCount.load(ordering: .acquiring) }
  /// Pictures whose format had to be changed, each a copy.
  package var converted: Int { convertedCount.load(ordering: .relaxed) }

  /// A picture is out.
  package func noteLease() { outstandingCount.add(1, ordering: .acquiringAndReleasing) }
  /// A picture that was out is back.
  package func noteRelease() { outstandingCount.subtract(1, ordering: .acquiringAndReleasing) }
  /// Pictures were copied on their way.
  package func noteConversions(_ count: Int = 1) { convertedCount.add(count, ordering: .relaxed) }
}

/// Makes pictures to hand over of decoded frames: by reference where the format is one of ours, else converted. Used by
/// one thread.
package final class PictureMaker {
  private let counters: PictureCounters
  private let pool: PicturePool
  private var converter: PictureConverter?

  /// - Parameters:
  ///   - counters: count the pictures.
  ///   - memory: where converted pictures are put.
  package init(counters: PictureCounters, memory: any DecoderMemory = OwnDecoderMemory()) {
    self.counters = counters
    pool = PicturePool(counters: counters, memory: memory)
  }

  /// Takes over `frame`. Nil when it is of no use.
  /// - Parameter targetSize: what the picture is scaled to; nil: the frame's own size.
  package func picture(
    of frame: UnsafeMutablePointer<AVFrame>, targetSize: PixelSize? = nil
  ) -> (buffer: PixelBuffer, colorSpace: ColorSpace)? {
    let source = frame.pointee
    let size = PixelSize(width: Int(source.width), height: Int(source.height))
    let targetSize = targetSize ?? size
    let format = SourceFormat(AVPixelFormat(rawValue: source.format))
    let color = PictureColor(
      matrix: source.colorspace, range: format.range(said: source.color_range), height: size.height)
    if targetSize == size, let shared = format.shared, shared.planeCount == 1 || color.isDeliverable,
      let buffer = lease(frame, shared, size)
    {
      return (buffer, shared.planeCount == 1 ? .sRGB : color.delivered)
    }
    defer {
      var owned: UnsafeMutablePointer<AVFrame>? = frame
      av_frame_free(&owned)
    }
    let target: PixelFormat = format.isRGB ? .bgra : .i420
    let key = PictureConverter.Key(
      size: size, targetSize: targetSize, source: format.plain, target: target, color: color)
    if converter?.key != key { converter = PictureConverter(key) }
    guard let converter, let buffer = pool.buffer(target, targetSize, fill: { converter.convert(frame, into: $0) })
    else {
      return nil
    }
    counters.noteConversions()
    return (buffer, target == .bgra ? .sRGB : color.delivered)
  }

  /// The decoder's own planes; nil, and the frame still the caller's, when they do not lie as ours do.
  private func lease(
    _ frame: UnsafeMutablePointer<AVFrame>, _ format: PixelFormat, _ size: PixelSize
  ) -> PixelBuffer? {
    let data = frame.pointee.data
    let strides = frame.pointee.linesize
    let all = [(data.0, strides.0), (data.1, strides.1), (data.2, strides.2)].prefix(format.planeCount)
    var planes: [(base: UnsafeRawPointer, stride: Int)] = []
    for (index, (base, stride)) in all.enumerated() {
      // Pictures that stand on their head have negative strides.
      guard let base, Int(stride) >= format.planeExtent(index, of: size).rowBytes else { return nil }
      planes.append((UnsafeRawPointer(base), Int(stride)))
    }
    // The frame holds a reference on each plane's memory, so the memory stays; libavcodec writes only into buffers that
    // nobody else refers to, so it does not change either. The release frees the frame, and it alone does.
    let address = UInt(bitPattern: frame)
    counters.noteLease()
    let counters = counters
    return PixelBuffer(format: format, size: size, planes: planes) {
      var owned = UnsafeMutablePointer<AVFrame>(bitPattern: address)
      av_frame_free(&owned)
      counters.noteRelease()
    }
  }
}

/// The properties of a pixel format of FFmpeg.
package struct SourceFormat {
  let format: AVPixelFormat

  package init(_ format: AVPixelFormat) { self.format = format }

  /// Ours, when the samples lie the same way in memory. A fourth plane, alpha, is left unread.
  package var shared: PixelFormat? {
    switch format {
    case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVA420P: .i420
    case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVA444P: .i444
    case AV_PIX_FMT_NV12: .nv12
    case AV_PIX_FMT_BGRA, AV_PIX_FMT_BGR0: .bgra
    case AV_PIX_FMT_RGBA, AV_PIX_FMT_RGB0: .rgba
    default: nil
    }
  }

  /// The formats of JPEG are others with a range.
  var plain: AVPixelFormat {
    switch format {
    case AV_PIX_FMT_YUVJ420P: AV_PIX_FMT_YUV420P
    case AV_PIX_FMT_YUVJ422P: AV_PIX_FMT_YUV422P
    case AV_PIX_FMT_YUVJ444P: AV_PIX_FMT_YUV444P
    case AV_PIX_FMT_YUVJ440P: AV_PIX_FMT_YUV440P
    case AV_PIX_FMT_YUVJ411P: AV_PIX_FMT_YUV411P
    default: format
    }
  }

  /// JPEG's formats are of full range and so is grey, unless it is said to be of limited range (video without colours).
  func range(said: AVColorRange) -> AVColorRange {
    let isFull = plain != format || isGray && said != AVCOL_RANGE_MPEG
    return isFull ? AVCOL_RANGE_JPEG : said
  }

  /// Colours by red, green and blue, or by a palette of them.
  package var isRGB: Bool {
    guard let description = av_pix_fmt_desc_get(format) else { return false }
    let flags = UInt64(AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)
    return description.pointee.flags & flags != 0 || format == AV_PIX_FMT_MONOBLACK || format == AV_PIX_FMT_MONOWHITE
  }

  private var isGray: Bool {
    guard let description = av_pix_fmt_desc_get(format) else { return false }
    return description.pointee.nb_components <= 2 && !isRGB
  }
}
