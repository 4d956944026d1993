internal import CLinux
import Glibc
public import RTCPrimitives
import Synchronization

/// A picture in memory that a device driver shares by file descriptors (Linux DMA-BUF).
///
/// A capturer makes one for each buffer of its source, and a `PixelBuffer` over it for each picture. An encoder that can
/// import DMA-BUFs takes the descriptors. All others read the pixels as those of any `PixelBuffer`: they are mapped when
/// they are first read, once for all pictures in the buffer. Only linear buffers can be mapped. Safe on any thread.
@safe
public final class DMABuffer: Sendable {
  /// The place of a plane.
  public struct Plane: Hashable, Sendable {
    /// The index in `descriptors` of the file with the plane.
    public var descriptor: Int
    /// Bytes from the start of the file to the first row.
    public var offset: Int
    /// Bytes from one row to the next.
    public var stride: Int

    /// A plane in a file.
    public init(descriptor: Int = 0, offset: Int, stride: Int) {
      self.descriptor = descriptor
      self.offset = offset
      self.stride = stride
    }
  }

  /// The modifier of rows that lie one after another (`DRM_FORMAT_MOD_LINEAR`).
  public static let linear: UInt64 = 0
  private static let largestSide = 65_535

  /// The files with the planes; open as long as this object lives.
  public let descriptors: [Int32]
  /// The four-letter code of the format in `drm_fourcc.h`.
  public let fourCC: UInt32
  /// The order of the pixels in memory: a format modifier of `drm_fourcc.h`.
  public let modifier: UInt64
  /// How pixels lie in the planes if the modifier is `linear`.
  public let format: PixelFormat
  /// In pixels.
  public let size: PixelSize
  /// The places of the planes. Another modifier than `linear` may have more planes than `format`.
  public let planes: [Plane]
  private let files = Mutex<[MappedFile]?>(nil)

  /// A file that is mapped as a whole, until this object ends.
  private struct MappedFile {
    var address: UInt
    var byteCount: Int
  }

  /// Takes over `descriptors`, also when it throws: they are closed once, with this object. Throws `unknownFormat`,
  /// `unsuitableSize` or `unsuitablePlanes`.
  public init(
    descriptors: [Int32], fourCC: UInt32, modifier: UInt64 = DMABuffer.linear, size: PixelSize, planes: [Plane]
  ) throws(DMABufferError) {
    self.descriptors = descriptors
    self.fourCC = fourCC
    self.modifier = modifier
    self.size = size
    self.planes = planes
    let known = PixelFormat(fourCC: fourCC)
    format = known ?? .bgra
    // Every property has its value: if this throws, `deinit` closes the files.
    guard known != nil else { throw .unknownFormat(fourCC: fourCC) }
    guard 1...Self.largestSide ~= size.width, 1...Self.largestSide ~= size.height else { throw .unsuitableSize(size) }
    let isFitting =
      planes.allSatisfy { descriptors.indices.contains($0.descriptor) && $0.offset >= 0 && $0.stride > 0 }
      && (modifier == Self.linear ? planes.count == format.planeCount : 1...4 ~= planes.count)
    guard isFitting else { throw .unsuitablePlanes }
    guard modifier == Self.linear else { return }
    for (index, plane) in planes.enumerated() where plane.stride < format.planeExtent(index, of: size).rowBytes {
      throw .unsuitablePlanes
    }
  }

  deinit {
    // The mappings end with the last reader: each `DMABufferReading` holds this object.
    for file in files.withLock({ $0 }) ?? [] {
      unsafe clinux_dmabuf_unmap(UnsafeRawPointer(bitPattern: file.address), file.byteCount)
    }
    for descriptor in Set(descriptors) where descriptor >= 0 { clinux_dmabuf_close(descriptor) }
  }

  /// Maps the files at the first call. Returns the address of each plane: it is valid for as long as this object lives,
  /// and all rows of the plane lie within the mapped file.
  func map() throws(DMABufferError) -> [UInt] {
    guard modifier == Self.linear else { throw .notLinear(modifier: modifier) }
    return try files.withLock { files throws(DMABufferError) in
      if files == nil { files = try mappedFiles() }
      return planes.map { files![$0.descriptor].address + UInt($0.offset) }
    }
  }

  private func mappedFiles() throws(DMABufferError) -> [MappedFile] {
    var mapped: [MappedFile] = []
    do throws(DMABufferError) {
      for index in descriptors.indices { mapped.append(try mappedFile(index)) }
    } catch {
      for file in mapped { unsafe clinux_dmabuf_unmap(UnsafeRawPointer(bitPattern: file.address), file.byteCount) }
      throw error
    }
    return mapped
  }

  private func mappedFile(_ index: Int) throws(DMABufferError) -> MappedFile {
    let descriptor = descriptors[index]
    let byteCount = clinux_dmabuf_size(descriptor)
    guard byteCount >= 0 else { throw .system(errno: Int32(-byteCount), call: "lseek") }
    for (number, plane) in planes.enumerated() where plane.descriptor == index {
      guard isInside(plane, format.planeExtent(number, of: size), byteCount: Int(byteCount)) else {
        throw .outside(plane: number, byteCount: Int(byteCount))
      }
    }
    // A file that becomes shorter while it is read would end the program.
    try sync(descriptor, begins: true)
    try sync(descriptor, begins: false)
    var error: Int32 = 0
    guard let memory = unsafe clinux_dmabuf_map(descriptor, Int(byteCount), &error) else {
      throw .system(errno: error, call: "mmap")
    }
    return MappedFile(address: UInt(bitPattern: memory), byteCount: Int(byteCount))
  }

  private func isInside(_ plane: Plane, _ extent: (rowBytes: Int, rows: Int), byteCount: Int) -> Bool {
    let (rows, overflows) = plane.stride.multipliedReportingOverflow(by: extent.rows - 1)
    // No sum of the rest can overflow: each term is at most `byteCount` or the bytes of a row.
    return !overflows && plane.offset <= byteCount && rows <= byteCount - plane.offset
      && extent.rowBytes <= byteCount - plane.offset - rows
  }

  /// Tells the drivers that the processor begins or ends to read.
  func sync(begins: Bool) throws(DMABufferError) {
    for descriptor in descriptors { try sync(descriptor, begins: begins) }
  }

  private func sync(_ descriptor: Int32, begins: Bool) throws(DMABufferError) {
    let status = clinux_dmabuf_sync(descriptor, begins ? 1 : 0)
    guard status < 0 else { return }
    guard status == -ENOTTY else { throw .system(errno: -status, call: "ioctl DMA_BUF_IOCTL_SYNC") }
    // Memory of a program without a graphics driver needs no synchronization.
    guard clinux_dmabuf_is_sealed(descriptor) != 0 else { throw .notShareable }
  }
}

extension PixelFormat {
  /// The format with this four-letter code in `drm_fourcc.h`; nil if there is none. Codes name the bytes of a pixel from
  /// the highest to the lowest.
  public init?(fourCC: UInt32) {
    switch fourCC {
    case 0x3432_5258, 0x3432_5241: self = .bgra  // XR24, AR24
    case 0x3432_4258, 0x3432_4241: self = .rgba  // XB24, AB24
    case 0x3231_564E: self = .nv12  // NV12
    case 0x3231_5559: self = .i420  // YU12
    case 0x3432_5559: self = .i444  // YU24
    default: return nil
    }
  }
}
