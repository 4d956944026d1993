import CX11
import Glibc
import RTCPrimitives
import Synchronization

/// The keys of displays, for a process that may not read their files itself once it has confined itself.
///
/// XAUTHORITY leads to memory of this process, which gets the contents of the file before each connection: a login makes a new
/// file.
package final class X11Keys: Sendable {
  /// More of a file is not read, in bytes.
  private static let longest = 64 << 10

  private let memory: Int32
  private let isChanging = Mutex(())

  /// Leads XAUTHORITY to the memory. Call it before the process has threads. Nil if the system has no such memory.
  package init?() {
    memory = rtc_x11_memory("rtcast-display-keys")
    guard memory >= 0 else { return nil }
    guard setenv("XAUTHORITY", "/proc/self/fd/\(memory)", 1) == 0 else {
      close(memory)
      return nil
    }
  }

  deinit { close(memory) }

  /// Puts the contents of a file in place of the keys so far.
  /// - Parameter file: a descriptor, which stays the caller's; nil: there are no keys.
  package func replace(with file: Int32?) {
    isChanging.withLock { _ in
      guard ftruncate(memory, 0) == 0, let file else { return }
      withUnsafeTemporaryAllocation(byteCount: Self.longest, alignment: 1) { room in
        let count = pread(file, room.baseAddress, room.count, 0)
        if count > 0 { _ = pwrite(memory, room.baseAddress, count, 0) }
      }
    }
  }
}
