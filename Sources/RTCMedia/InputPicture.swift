/// The picture that an encoder reads. Its memory is the encoder's input: frames are converted into it, and not copied
/// again. I420, I444 or NV12, as the encoder needs; BT.601, limited range. Owned by one encoder and, like it, used by one
/// thread at a time.
///
/// The picture has memory of its own, black at first, or that of an `InputSurface`, which an encoder offers.
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
  /// Memory of this picture's own; empty if there is a surface.
  private let memory: UnsafeMutableRawBufferPointer
  private let layout: [(offset: Int, stride: Int, rowBytes: Int, rows: Int)]
  private let surface: (any InputSurface)?

  /// A picture with memory of its own.
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
    surface = nil
    unsafe memory = UnsafeMutableRawBufferPointer.allocate(byteCount: total, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 128)
    let luma = layout[0].stride * layout[0].rows
    unsafe UnsafeMutableRawBufferPointer(rebasing: memory[..<luma]).initializeMemory(as: UInt8.self, repeating: 16)
  }

  /// A picture in the memory of an encoder.
  /// - Parameters:
  ///   - format: not packed RGB.
  ///   - size: must not be empty.
  ///   - surface: its strides hold the rows of a picture of `format` and `size`.
  public init(format: PixelFormat, size: PixelSize, surface: any InputSurface) {
    precondition(size.width > 0 && size.height > 0, "An input picture needs at least one pixel.")
    precondition(format.planeCount > 1, "An input picture is I420, I444 or NV12, not \(format.rawValue).")
    self.format = format
    self.size = size
    self.surface = surface
    unsafe memory = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    layout = (0..<format.planeCount).map { index in
      let extent = format.planeExtent(index, of: size)
      let stride = surface.stride(ofPlane: index)
      precondition(stride >= extent.rowBytes, "Plane \(index) of the surface has rows of \(stride) bytes, too few.")
      return (0, stride, extent.rowBytes, extent.rows)
    }
  }

  deinit { unsafe memory.deallocate() }

  /// Whether the memory stays where it is: it belongs to the picture, not to a surface.
  package var ownsMemory: Bool { surface == nil }

  /// The stride of plane `index` in bytes.
  public func stride(ofPlane index: Int) -> Int { layout[index].stride }

  /// Makes the planes of a surface readable and writable until `endAccess`; own memory always is. Calls are not nested.
  package func beginAccess() { surface?.beginAccess() }

  /// Ends what `beginAccess` began.
  package func endAccess() { surface?.endAccess() }

  /// Reads plane `index`, gaps of the stride included.
  public func withPlane<R>(_ index: Int, _ body: (Span<UInt8>) -> R) -> R {
    withMutablePlane(index) { body($0.span) }
  }

  /// Changes plane `index`, gaps of the stride included. `body` must not touch the same plane by another way.
  public func withMutablePlane<R>(_ index: Int, _ body: (inout MutableSpan<UInt8>) -> R) -> R {
    beginAccess()
    defer { endAccess() }
    let plane = unsafe unsafePlane(index)
    // The memory is ours or the surface's: self, which the call holds, keeps both.
    var span = unsafe MutableSpan<UInt8>(_unsafeStart: plane.base, count: plane.stride * plane.rows)
    return body(&span)
  }

  /// The plane's address for C libraries; valid only while the caller holds this picture, and between
  /// `beginAccess` and `endAccess` if a surface has the memory.
  @unsafe
  package func unsafePlane(_ index: Int) -> Plane {
    let (offset, stride, rowBytes, rows) = layout[index]
    if let surface {
      return unsafe Plane(base: surface.unsafeBase(ofPlane: index), stride: stride, rowBytes: rowBytes, rows: rows)
    }
    let base = unsafe memory.baseAddress!.advanced(by: offset).assumingMemoryBound(to: UInt8.self)
    return unsafe Plane(base: base, stride: stride, rowBytes: rowBytes, rows: rows)
  }
}

/// The memory of an encoder into which pictures are converted, such as a surface of the graphics driver. Used by one
/// thread at a time; lives as long as its `InputPicture`.
public protocol InputSurface: AnyObject {
  /// Bytes from one row of plane `index` to the next; never changes.
  func stride(ofPlane index: Int) -> Int

  /// Makes the planes readable and writable by the processor until `endAccess`. Calls are never nested. A surface that
  /// cannot be mapped gives other memory, and reports its error when it is encoded.
  func beginAccess()

  /// Ends the access: the planes hold the picture, of which parts may be new.
  func endAccess()

  /// The first byte of plane `index`. The caller writes as many rows of `stride(ofPlane:)` bytes as a picture of the
  /// format and size has (`PixelFormat.planeExtent`). Called between `beginAccess` and `endAccess` only, after which the
  /// address is invalid.
  @unsafe
  func unsafeBase(ofPlane index: Int) -> UnsafeMutablePointer<UInt8>
}
