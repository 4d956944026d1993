public import RTCPrimitives

/// The memory of one picture, read-only except for its owner while leased.
///
/// Safe to pass between threads: nothing in it changes between `init` and the release.
@safe
public final class PixelBuffer: @unchecked Sendable {
  // Invariant for `@unchecked Sendable`: all properties are constants, and the owner promises `init`'s contract that
  // the memory is valid and unchanging until `release` is called, which happens once, in `deinit`. A `DMABufferReading`
  // locks its own state.

  /// One plane: `rows` rows of `rowBytes` bytes, each starting `stride` bytes after the one before.
  @unsafe
  public struct Plane {
    /// The first byte of the first row.
    public var base: UnsafeRawPointer
    /// Bytes from one row to the next.
    public var stride: Int
    /// Bytes of a row that are pixels.
    public var rowBytes: Int
    /// How many rows there are.
    public var rows: Int
  }

  /// How pixels lie in the planes.
  public let format: PixelFormat
  /// In pixels.
  public let size: PixelSize
  private let memory: Memory
  private let release: @Sendable () -> Void

  @safe
  private enum Memory {
    /// Memory of this process.
    case planes([Plane])
    /// Memory of a device, mapped when it is first read.
    case dmaBuffer(DMABufferReading)
  }

  /// A buffer over memory that somebody else owns.
  ///
  /// - Parameters:
  ///   - planes: base address and stride of each plane; each must stay valid and unchanged until `release` is called.
  ///   - release: called once, on whichever thread drops the last lease.
  /// - Returns: nil when the number of planes, a size or a stride does not fit the format.
  @unsafe
  public init?(
    format: PixelFormat, size: PixelSize, planes: [(base: UnsafeRawPointer, stride: Int)],
    release: @escaping @Sendable () -> Void
  ) {
    guard size.width > 0, size.height > 0, unsafe planes.count == format.planeCount else { return nil }
    var checked = unsafe [Plane]()
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let (base, stride) = unsafe planes[index]
      guard stride >= extent.rowBytes else { return nil }
      unsafe checked.append(Plane(base: base, stride: stride, rowBytes: extent.rowBytes, rows: extent.rows))
    }
    self.format = format
    self.size = size
    unsafe memory = .planes(checked)
    self.release = release
  }

  /// A buffer over a picture in the memory of a device, which the source leaves unchanged until `release` is called.
  ///
  /// - Parameter release: called once, on whichever thread drops the last lease.
  public init(_ buffer: DMABuffer, release: @escaping @Sendable () -> Void) {
    format = buffer.format
    size = buffer.size
    memory = .dmaBuffer(DMABufferReading(buffer))
    self.release = release
  }

  deinit {
    if case .dmaBuffer(let reading) = memory { reading.end() }
    release()
  }

  /// The DMA-BUF with the pixels, for an encoder that can import it; nil for memory of this process.
  public var dmaBuffer: DMABuffer? {
    guard case .dmaBuffer(let reading) = memory else { return nil }
    return reading.buffer
  }

  /// Makes the pixels readable by the processor: maps a DMA-BUF; does nothing for memory of this process. Reading does
  /// the same, but shows a grey picture if it is impossible. Throws the reason.
  public func map() throws(DMABufferError) {
    if case .dmaBuffer(let reading) = memory { try reading.begin() }
  }

  /// The bytes of plane `index` from its first row to the end of its last, gaps of the stride included.
  @_lifetime(borrow self)
  public func bytes(ofPlane index: Int) -> Span<UInt8> {
    let plane = unsafe unsafePlane(index)
    let count = unsafe plane.stride * (plane.rows - 1) + plane.rowBytes
    // `init`'s contract keeps the memory valid for as long as self lives, and the result borrows self.
    let span = unsafe Span<UInt8>(_unsafeStart: plane.base.assumingMemoryBound(to: UInt8.self), count: count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The stride of plane `index` in bytes.
  public func stride(ofPlane index: Int) -> Int { unsafe unsafePlane(index).stride }

  /// The plane's address for C libraries; valid only while the caller holds this buffer.
  @unsafe
  public func unsafePlane(_ index: Int) -> Plane {
    switch memory {
    case .planes(let planes): unsafe planes[index]
    case .dmaBuffer(let reading): unsafe reading.plane(index)
    }
  }
}

extension PixelBuffer {
  /// Makes a buffer with its own memory. `fill` gets each plane's index, bytes and stride (rows are packed to a
  /// multiple of 64 bytes). The memory is zero at first and freed with the last lease.
  public static func allocate(
    format: PixelFormat, size: PixelSize, fill: (Int, inout MutableSpan<UInt8>, _ stride: Int) -> Void
  ) -> PixelBuffer? {
    guard size.width > 0, size.height > 0 else { return nil }
    var offsets: [(offset: Int, stride: Int, rows: Int)] = []
    var total = 0
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = (extent.rowBytes + 63) / 64 * 64
      offsets.append((total, stride, extent.rows))
      total += stride * extent.rows
    }
    // Owned by the buffer made below: `release` frees it exactly once.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: total, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0)
    for (index, plane) in offsets.enumerated() {
      let bytes = unsafe UnsafeMutableRawBufferPointer(
        rebasing: memory[plane.offset..<plane.offset + plane.stride * plane.rows])
      unsafe bytes.withMemoryRebound(to: UInt8.self) { rebound in
        var span = unsafe rebound.mutableSpan
        fill(index, &span, plane.stride)
      }
    }
    let address = UInt(bitPattern: memory.baseAddress!)
    let planes = unsafe offsets.map { unsafe (UnsafeRawPointer(bitPattern: address)! + $0.offset, $0.stride) }
    return unsafe PixelBuffer(
      format: format, size: size, planes: planes,
      release: { unsafe UnsafeMutableRawPointer(bitPattern: address)!.deallocate() })
  }
}
