import Glibc
import RTCMedia

/// Memory for one picture that a plugin borrows.
///
/// `@unchecked Sendable`: all properties are constants; the bytes are written by the holder of the buffer, which the
/// inlet's state determines.
@safe
final class PluginMemory: @unchecked Sendable {
  let base: UnsafeMutableRawPointer
  let byteCount: Int
  /// The slot shared with another process; 0 if it is not shared.
  let slot: UInt8
  private let free: @Sendable () -> Void

  init(base: UnsafeMutableRawPointer, byteCount: Int, slot: UInt8 = 0, free: @escaping @Sendable () -> Void) {
    unsafe self.base = unsafe base
    self.byteCount = byteCount
    self.slot = slot
    self.free = free
  }

  deinit { free() }

  /// Memory of this process alone, zero at first; nil when there is none.
  static func own(byteCount: Int) -> PluginMemory? {
    var base: UnsafeMutableRawPointer?
    guard unsafe posix_memalign(&base, 64, byteCount) == 0, let base = unsafe base else { return nil }
    unsafe memset(base, 0, byteCount)
    let address = UInt(bitPattern: base)
    return unsafe PluginMemory(base: base, byteCount: byteCount) {
      unsafe Glibc.free(UnsafeMutableRawPointer(bitPattern: address))
    }
  }

  func contains(_ start: UnsafeRawPointer, _ count: Int) -> Bool {
    let offset = unsafe UInt(bitPattern: start) &- UInt(bitPattern: base)
    return offset <= UInt(byteCount) && UInt(count) <= UInt(byteCount) - offset
  }
}
