import CLinux
import Glibc

/// Memory shared with a plugin's process, read-only here.
///
/// `@unchecked Sendable`: all properties are constants, and the memory stays mapped for as long as this lives. The other
/// process may change the bytes against the rules: that spoils the picture and nothing else, for the size is sealed.
@safe
final class SharedSegment: @unchecked Sendable {
  /// A picture of 16384x16384 pixels with four bytes each.
  private static let largest: Int64 = 1 << 30
  let base: UnsafeRawPointer
  let byteCount: Int

  /// Maps the memory and leaves the descriptor to the caller; nil when it is not sealed or its size is absurd.
  init?(_ descriptor: Int32) {
    let size = clinux_sealed_memory_size(descriptor)
    guard size > 0, size <= Self.largest else { return nil }
    guard let address = unsafe mmap(nil, Int(size), PROT_READ, MAP_SHARED, descriptor, 0), unsafe address != MAP_FAILED
    else {
      return nil
    }
    unsafe base = UnsafeRawPointer(address)
    byteCount = Int(size)
  }

  deinit { unsafe munmap(UnsafeMutableRawPointer(mutating: base), byteCount) }
}
