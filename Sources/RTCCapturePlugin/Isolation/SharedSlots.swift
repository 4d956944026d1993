import CLinux
import Glibc
import Synchronization

/// The shared memory of a plugin's process: at most eight pieces, four to lend and four to copy into.
final class SharedSlots: Sendable {
  static let count = 8

  private let socket: MessageSocket
  private let taken = Mutex([Bool](repeating: false, count: SharedSlots.count))

  init(_ socket: MessageSocket) { self.socket = socket }

  /// New memory, zero at first, which the other process has been told of; nil when all slots are taken or the system has
  /// no more.
  func make(byteCount: Int) -> PluginMemory? {
    let free = taken.withLock { taken -> Int? in
      guard let index = taken.firstIndex(of: false) else { return nil }
      taken[index] = true
      return index
    }
    guard let free else { return nil }
    guard let base = unsafe share(byteCount, as: UInt8(free)) else {
      vacate(free)
      return nil
    }
    let address = UInt(bitPattern: base)
    return unsafe PluginMemory(base: base, byteCount: byteCount, slot: UInt8(free)) { [self] in
      unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
      vacate(free)
    }
  }

  private func vacate(_ index: Int) { taken.withLock { $0[index] = false } }

  private func share(_ byteCount: Int, as slot: UInt8) -> UnsafeMutableRawPointer? {
    let descriptor = unsafe clinux_sealed_memory("rtcast-plugin", byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let base = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      unsafe base != MAP_FAILED
    else {
      return nil
    }
    guard socket.send(HostEvent.segment(slot: slot).bytes, descriptor: descriptor, isPatient: true) else {
      unsafe munmap(base, byteCount)
      return nil
    }
    return unsafe base
  }
}
