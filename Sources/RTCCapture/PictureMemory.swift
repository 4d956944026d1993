package import RTCMedia
import Synchronization

/// The memory of one picture, planes one after another without gaps, that one thread fills repeatedly: it writes while
/// there is no reader, and leases it in between.
@safe
package final class PictureMemory: @unchecked Sendable {
  // Why unchecked: the bytes are written only while `isLeased` is false, and only by the owner's thread; readers hold a
  // lease.
  package let format: PixelFormat
  package let size: PixelSize
  private let memory: UnsafeMutableRawBufferPointer
  private let free: @Sendable (UnsafeMutableRawBufferPointer) -> Void
  private let leased = Atomic(false)

  /// Allocates memory.
  /// - Parameter value: the initial value of each byte.
  package convenience init(format: PixelFormat, size: PixelSize, filledWith value: UInt8 = 0) {
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: Self.byteCount(format, size), alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: value)
    unsafe self.init(format: format, size: size, owning: memory) { unsafe $0.deallocate() }
  }

  /// - Parameters:
  ///   - memory: at least `byteCount` bytes, for the exclusive use of this object.
  ///   - free: called once, when neither self nor a lease is left, on any thread.
  @unsafe
  package init(
    format: PixelFormat, size: PixelSize, owning memory: UnsafeMutableRawBufferPointer,
    free: @escaping @Sendable (UnsafeMutableRawBufferPointer) -> Void
  ) {
    precondition(memory.count >= Self.byteCount(format, size), "The memory is too small for the picture.")
    self.format = format
    self.size = size
    unsafe self.memory = memory
    unsafe self.free = free
  }

  deinit { unsafe free(memory) }

  /// The bytes of a picture without gaps.
  package static func byteCount(_ format: PixelFormat, _ size: PixelSize) -> Int {
    (0..<format.planeCount).reduce(0) {
      let extent = format.planeExtent($1, of: size)
      return $0 + extent.rowBytes * extent.rows
    }
  }

  /// Whether there is a reader.
  package var isLeased: Bool { leased.load(ordering: .acquiring) }

  /// The memory of the picture; written by the owner's thread only, and not while it is leased.
  @unsafe
  package var bytes: UnsafeMutableRawBufferPointer { unsafe memory }

  /// The picture as it is now, unchanging until the lease ends.
  /// - Parameter onRelease: called then, on any thread.
  package func lease(onRelease: @escaping @Sendable () -> Void = {}) -> PixelBuffer {
    leased.store(true, ordering: .relaxed)
    var planes = unsafe [(base: UnsafeRawPointer, stride: Int)]()
    var offset = 0
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      unsafe planes.append((UnsafeRawPointer(memory.baseAddress!) + offset, extent.rowBytes))
      offset += extent.rowBytes * extent.rows
    }
    // The release closure keeps this memory alive; planes and strides fit by construction.
    return unsafe PixelBuffer(format: format, size: size, planes: planes) { [self] in
      leased.store(false, ordering: .releasing)
      onRelease()
    }!
  }
}
