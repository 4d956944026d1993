/// The picture that an encoder reads. Its memory is the encoder's input: frames are converted into it, and not copied
/// again. I420, I444 or NV12, as the encoder needs; BT.601, limited range. Black at first. Owned by one encoder and,
/// like it, used by one thread at a time.
@safe
public final class InputPicture {
  /// One plane: `rows` rows of `rowBytes` bytes, each starting `stride` bytes after the one before.
  @unsafe
  public struct Plane {
    /// The first byte of the first row.
    public var base: UnsafeMutablePointer<UInt8>
    /// Bytes from one row to the next.
    public var stride: Int
    /// Bytes of a row that are pixels.
    public var rowBytes: Int
    /// How many rows there are.
    public var rows: Int
  }

  /// I420, I444 or NV12.
  public let format: PixelFormat
  /// In pixels.
  public let size: PixelSize
  private let memory: UnsafeMutableRawBufferPointer
  private let layout: [(offset: Int, stride: Int, rowBytes: Int, rows: Int)]

  /// - Parameters:
  ///   - format: not packed RGB.
  ///   - size: must not be empty.
  public init(format: PixelFormat = .i420, size: PixelSize) {
    precondition(size.width > 0 && size.height > 0, "An input picture needs at least one pixel.")
    precondition(format.planeCount > 1, "An input picture is I420, I444 or NV12, not \(format.rawValue).")
    self.format = format
    self.size = size
    var layout: [(offset: Int, stride: Int, rowBytes: Int, rows: Int)] = []
    var total = 0
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = (extent.rowBytes + 63) / 64 * 64
      layout.append((total, stride, extent.rowBytes, extent.rows))
      total += stride * extent.rows
    }
    self.layout = layout
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: total, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 128)
    let luma = layout[0].stride * layout[0].rows
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<luma]).initializeMemory(as: UInt8.self, repeating: 16)
  }

  deinit { unsafe memory.deallocate() }

  /// The stride of plane `index` in bytes.
  public func stride(ofPlane index: Int) -> Int { layout[index].stride }

  /// Reads plane `index`, gaps of the stride included.
  public func withPlane<R>(_ index: Int, _ body: (Span<UInt8>) -> R) -> R {
    withMutablePlane(index) { body($0.span) }
  }

  /// Changes plane `index`, gaps of the stride included. `body` must not touch the same plane by another way.
  public func withMutablePlane<R>(_ index: Int, _ body: (inout MutableSpan<UInt8>) -> R) -> R {
    let plane = unsafe unsafePlane(index)
    // The memory is ours and lives as long as self, which the call holds.
    var span = unsafe MutableSpan<UInt8>(_unsafeStart: plane.base, count: plane.stride * plane.rows)
    return body(&span)
  }

  /// The plane's address for C libraries; valid only while the caller holds this picture.
  @unsafe
  package func unsafePlane(_ index: Int) -> Plane {
    let (offset, stride, rowBytes, rows) = layout[index]
    let base = unsafe memory.baseAddress!.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    return unsafe Plane(base: base, stride: stride, rowBytes: rowBytes, rows: rows)
  }
}
