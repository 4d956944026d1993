import RTCMedia

/// How one picture lies in a stream, and how it gets into a frame.
struct PipeLayout: Hashable, Sendable {
  /// One plane of the stream and the frame's plane that it becomes.
  struct Plane: Hashable, Sendable {
    /// The offset of the stream's plane, in bytes from the picture's first.
    var offset: Int
    /// In samples.
    var width: Int
    var rows: Int
    /// Every two rows become one.
    var halvesRows: Bool
  }

  let size: PixelSize
  /// The format of the delivered frames.
  let format: PixelFormat
  /// Bytes of a picture in the stream.
  let streamBytes: Int
  /// Bytes of a picture in memory, planes one after another without gaps.
  let frameBytes: Int
  let colorSpace: ColorSpace
  let planes: [Plane]
  let bitDepth: Int
  let isFullRange: Bool
  /// The stream's bytes are the frame's (or its first, when colour is missing): they are read in place.
  let isDirect: Bool

  /// Pictures without a header of their own.
  init(raw format: PixelFormat, size: PixelSize, colorSpace: ColorSpace?) {
    self.size = size
    self.format = format
    frameBytes = PictureMemory.byteCount(format, size)
    streamBytes = frameBytes
    self.colorSpace = format.planeCount == 1 ? .sRGB : colorSpace ?? Self.customary(size)
    planes = []
    bitDepth = 8
    isFullRange = false
    isDirect = true
  }

  init(_ header: Y4MHeader, colorSpace: ColorSpace?) {
    size = header.size
    let sampling = header.sampling
    format = sampling.chroma == .full ? .i444 : .i420
    frameBytes = PictureMemory.byteCount(format, size)
    self.colorSpace = colorSpace ?? Self.customary(size)
    bitDepth = sampling.bitDepth
    isFullRange = header.isFullRange
    planes = Self.planes(sampling, size)
    let samples = planes.reduce(0) { $0 + $1.width * $1.rows } + (sampling.hasAlpha ? size.area : 0)
    streamBytes = samples * sampling.bytesPerSample
    isDirect = sampling.bitDepth == 8 && sampling.chroma != .half && !sampling.hasAlpha
  }

  private static func planes(_ sampling: Y4MSampling, _ size: PixelSize) -> [Plane] {
    let extent: (width: Int, rows: Int)? =
      switch sampling.chroma {
      case .quarter: ((size.width + 1) / 2, (size.height + 1) / 2)
      case .half: ((size.width + 1) / 2, size.height)
      case .full: (size.width, size.height)
      case .none: nil
      }
    var planes = [Plane(offset: 0, width: size.width, rows: size.height, halvesRows: false)]
    guard let extent else { return planes }
    for index in 0..<2 {
      let offset = (size.area + index * extent.width * extent.rows) * sampling.bytesPerSample
      planes.append(
        Plane(offset: offset, width: extent.width, rows: extent.rows, halvesRows: sampling.chroma == .half))
    }
    return planes
  }

  /// The colour space that players assume for an unmarked stream: BT.709 for high definition, BT.601 for everything
  /// smaller.
  private static func customary(_ size: PixelSize) -> ColorSpace {
    size.height > 576 || size.width >= 1280 ? .bt709Limited : .bt601Limited
  }
}

extension PixelSize {
  fileprivate var area: Int { width * height }
}
