import CLinux
import Glibc
import Synchronization

/// The pieces of shared memory of a child process, each with the number of a slot. Any thread.
package final class SharedSlots: Sendable {
  /// One piece of memory, mapped for writing until `SharedSlots.free`.
  @unsafe
  package struct Piece {
    package var base: UnsafeMutableRawPointer
    package var slot: UInt8
  }

  private let socket: MessageSocket
  private let taken: Mutex<[Bool]>

  /// - Parameter count: slots, 64 at most.
  package init(_ socket: MessageSocket, count: Int) {
    self.socket = socket
    taken = Mutex([Bool](repeating: false, count: min(64, count)))
  }

  /// New memory, zero at first, which the other process has been told of; nil when all slots are taken or the system has
  /// no more.
  package func make(byteCount: Int) -> Piece? {
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
    return unsafe Piece(base: base, slot: UInt8(free))
  }

  /// Unmaps memory of `make`, which nobody reads or writes any more; the other process keeps what it has mapped.
  package func free(_ address: UInt, byteCount: Int, slot: UInt8) {
    unsafe munmap(UnsafeMutableRawPointer(bitPattern: address), byteCount)
    vacate(Int(slot))
  }

  private func vacate(_ index: Int) { taken.withLock { $0[index] = false } }

  private func share(_ byteCount: Int, as slot: UInt8) -> UnsafeMutableRawPointer? {
    let descriptor = unsafe clinux_sealed_memory("rtcast-picture", byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let base = unsafe mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      unsafe base != MAP_FAILED
    else {
      return nil
    }
    guard socket.send([ChannelMessage.segment, slot], descriptor: descriptor, isPatient: true) else {
      unsafe munmap(base, byteCount)
      return nil
    }
    return unsafe base
  }
}
