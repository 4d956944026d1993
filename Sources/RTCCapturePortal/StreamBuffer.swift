import CPipeWire
import Glibc
import RTCCapture
import RTCMedia
import Synchronization

/// A buffer of the stream, in memory of the program that fills it.
final class StreamBuffer {
  let raw: UnsafeMutableRawPointer
  private let memory: Memory
  /// PipeWire has taken it back; shared memory stays while it is leased.
  var isRemoved = false

  private enum Memory {
    /// A shared file, mapped by this program. Leases outlive the buffer.
    case file(Mapping)
    /// Memory that PipeWire has mapped, and unmaps when it removes the buffer.
    case lent(address: UInt, byteCount: Int)
    case device(StreamDevice)
  }

  /// The mapped memory, which its owner and the leases keep.
  private final class Mapping: Sendable {
    let address: UInt
    let count: Int
    /// Where the buffer begins in it.
    let offset: Int
    let leases = Atomic(0)

    /// Nil if the file is shorter than it is said to be, or cannot be mapped.
    init?(_ descriptor: Int32, offset start: Int, count byteCount: Int) {
      var status = stat()
      guard byteCount > 0, fstat(descriptor, &status) == 0, Int(status.st_size) >= start + byteCount else { return nil }
      let pageStart = start / 4096 * 4096
      offset = start - pageStart
      count = offset + byteCount
      guard let mapped = mmap(nil, count, PROT_READ, MAP_SHARED, descriptor, pageStart), Int(bitPattern: mapped) != -1
      else { return nil }
      address = UInt(bitPattern: mapped)
    }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), count) }
  }

  /// Nil if the memory is shorter than it is said to be, or cannot be mapped.
  init?(_ raw: UnsafeMutableRawPointer, _ stated: cpipewire_memory) {
    let (offset, byteCount) = (Int(stated.offset), Int(stated.size))
    switch stated.place {
    case cpipewire_device: memory = .device(StreamDevice(descriptor: stated.descriptor, offset: offset))
    case cpipewire_mapped:
      let address = UInt(bitPattern: stated.address)
      guard byteCount > 0, address % 4 == 0 else { return nil }
      memory = .lent(address: address, byteCount: byteCount)
    default:
      guard let mapping = Mapping(stated.descriptor, offset: offset, count: byteCount) else { return nil }
      memory = .file(mapping)
    }
    self.raw = raw
  }

  /// Whether there is a reader.
  var isLeased: Bool {
    if case .file(let mapping) = memory { mapping.leases.load(ordering: .acquiring) > 0 } else { false }
  }

  /// Whether frames can be views of the memory. Other memory is copied: PipeWire may unmap it, or each access by the
  /// processor is slow.
  var isLeasable: Bool { if case .file = memory { true } else { false } }

  /// Whether the memory is still there.
  var isReadable: Bool { if case .lent = memory { !isRemoved } else { true } }

  /// The place of a picture in the buffer; nil if the numbers do not fit the buffer. Throws if a DMA-BUF cannot be read.
  func picture(
    size: PixelSize, format: PixelFormat, content: cpipewire_picture, orientation: PixelOrientation
  ) throws(DMABufferError) -> PackedPicture? {
    let (offset, stride) = (Int(content.offset), Int(content.stride))
    guard stride >= size.width * 4, stride % 4 == 0, offset % 4 == 0 else { return nil }
    let base: UnsafeRawPointer
    switch memory {
    case .file(let mapping):
      let byteCount = mapping.count - mapping.offset
      guard Self.fits(size, offset: offset, stride: stride, byteCount: byteCount) else { return nil }
      base = UnsafeRawPointer(bitPattern: mapping.address)! + mapping.offset + offset
    case .lent(let address, let byteCount):
      guard Self.fits(size, offset: offset, stride: stride, byteCount: byteCount) else { return nil }
      base = UnsafeRawPointer(bitPattern: address)! + offset
    case .device(let device):
      do throws(DMABufferError) {
        base = try device.picture(size, format, offset: offset, stride: stride)
      } catch {
        switch error {
        case .outside, .unsuitablePlanes: return nil
        default: throw error
        }
      }
    }
    return PackedPicture(base: base, stride: stride, size: size, format: format, orientation: orientation)
  }

  /// Whether all rows of a picture are inside of `byteCount` bytes.
  private static func fits(_ size: PixelSize, offset: Int, stride: Int, byteCount: Int) -> Bool {
    guard offset < byteCount else { return false }
    let (rows, isOverflow) = stride.multipliedReportingOverflow(by: size.height - 1)
    return !isOverflow && rows <= byteCount - offset && size.width * 4 <= byteCount - offset - rows
  }

  /// Calls `body` while the processor may read the last picture. Throws if a DMA-BUF cannot be read.
  func read<Result>(_ body: () -> Result) throws(DMABufferError) -> Result {
    if case .device(let device) = memory { try device.read(body) } else { body() }
  }

  /// A part of a picture of this buffer, unchanging until the lease ends: the program does not fill a buffer that it was not
  /// given back. Nil if the memory cannot be leased.
  func lease(
    _ rect: PixelRect, of picture: PackedPicture, onRelease: @escaping @Sendable () -> Void
  ) -> PixelBuffer? {
    guard case .file(let mapping) = memory, !rect.isEmpty, rect.intersection(PixelRect(picture.size)) == rect else {
      return nil
    }
    mapping.leases.wrappingAdd(1, ordering: .relaxed)
    let start = picture.base + rect.y * picture.stride + rect.x * 4
    return PixelBuffer(
      format: picture.format, size: PixelSize(width: rect.width, height: rect.height),
      planes: [(start, picture.stride)]
    ) { [mapping] in
      mapping.leases.wrappingSubtract(1, ordering: .releasing)
      onRelease()
    }
  }
}
