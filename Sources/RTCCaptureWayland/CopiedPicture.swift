import CLinux
import CWayland
import Glibc
import RTCCapture
import RTCMedia
import RTCNet
import Synchronization

/// Memory that is shared with the compositor, and the compositor's buffer in it. The compositor writes only while a copy is
/// under way, and no copy is asked for while the picture is leased.
final class CopiedPicture {
  let layout: BufferLayout
  /// The compositor's name of the memory.
  let buffer: OpaquePointer
  /// The parts that may differ from the newest picture.
  var stale: DamageList
  private let memory: Memory

  /// The mapped memory, which lives as long as a lease. The leases of its pixels and its owner keep it.
  private final class Memory: Sendable {
    let address: UInt
    let byteCount: Int
    let leases = Atomic(0)

    init(address: UInt, byteCount: Int) { (self.address, self.byteCount) = (address, byteCount) }

    deinit { munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount) }
  }

  /// Nil if the system has no memory or descriptor left.
  init?(_ layout: BufferLayout, shared: OpaquePointer) {
    let descriptor = clinux_sealed_memory("rtcast-screen", layout.byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let address = mmap(nil, layout.byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      Int(bitPattern: address) != -1
    else { return nil }
    memory = Memory(address: UInt(bitPattern: address), byteCount: layout.byteCount)
    guard let pool = wl_shm_create_pool(shared, descriptor, Int32(layout.byteCount)) else { return nil }
    defer { wl_shm_pool_destroy(pool) }
    guard
      let buffer = wl_shm_pool_create_buffer(
        pool, 0, Int32(layout.size.width), Int32(layout.size.height), Int32(layout.stride), layout.code)
    else { return nil }
    (self.layout, self.buffer) = (layout, buffer)
    stale = DamageList([PixelRect(layout.size)])
  }

  /// Any part may differ from the newest picture.
  func noteAllStale() { stale = DamageList([PixelRect(layout.size)]) }

  /// Releases the compositor's buffer; leases stay. Before the connection ends.
  func release() { wl_buffer_destroy(buffer) }

  /// Whether there is a reader.
  var isLeased: Bool { memory.leases.load(ordering: .acquiring) > 0 }

  /// A part of the picture as it is now, unchanging until the lease ends.
  /// - Parameters:
  ///   - rect: not empty, and inside the picture.
  ///   - onRelease: called then, on any thread.
  func lease(_ rect: PixelRect, onRelease: @escaping @Sendable () -> Void) -> PixelBuffer? {
    guard !rect.isEmpty, rect.intersection(PixelRect(layout.size)) == rect else { return nil }
    memory.leases.wrappingAdd(1, ordering: .relaxed)
    return PixelBuffer(
      format: layout.format, size: rect.size,
      planes: [(UnsafeRawPointer(row(rect.y, from: rect.x)), layout.stride)]
    ) { [memory] in
      memory.leases.wrappingSubtract(1, ordering: .releasing)
      onRelease()
    }
  }

  /// The pixels of a row from a column on; `x` and `y` are inside the picture.
  func row(_ y: Int, from x: Int) -> UnsafePointer<UInt32> {
    let base = UnsafeRawPointer(bitPattern: memory.address)! + y * layout.stride + x * 4
    return base.assumingMemoryBound(to: UInt32.self)
  }
}

extension PixelRect {
  var size: PixelSize { PixelSize(width: width, height: height) }
}
