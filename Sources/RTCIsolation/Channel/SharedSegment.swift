import CLinux
import Glibc

/// Memory that another process made and shares, read-only here.
///
/// `@unchecked Sendable`: all properties are constants, and the memory stays mapped for as long as this lives. The other
/// process may change the bytes against the rules: that spoils the picture and nothing else, for the size is sealed.
@safe
package final class SharedSegment: @unchecked Sendable {
  /// A picture of 16384x16384 pixels with four bytes each.
  package static let largest: Int64 = 1 << 30
  package let base: UnsafeRawPointer
  package let byteCount: Int

  /// Maps the memory and leaves the descriptor to the caller; nil when it is not sealed or has more than `largest` bytes.
  package init?(_ descriptor: Int32, largest: Int64 = SharedSegment.largest) {
    let size = clinux_sealed_memory_size(descriptor)
    guard size > 0, size <= largest else { return nil }
    guard let address = unsafe mmap(nil, Int(size), PROT_READ, MAP_SHARED, descriptor, 0), unsafe address != MAP_FAILED
    else {
      return nil
    }
    unsafe base = UnsafeRawPointer(address)
    byteCount = Int(size)
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), byteCount) }
}
