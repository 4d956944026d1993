/// Provides the memory into which decoders write pictures. Any thread.
package protocol DecoderMemory: AnyObject, Sendable {
  /// The address of `byteCount` bytes on a multiple of 64, which hold any valid bytes; nil when there are none.
  func allocate(byteCount: Int) -> UInt?

  /// Frees unused memory of `byteCount` bytes from `allocate`.
  func free(_ address: UInt, byteCount: Int)
}

/// Memory of this process alone.
package final class OwnDecoderMemory: DecoderMemory {
  package init() {}

  package func allocate(byteCount: Int) -> UInt? {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
    unsafe memory.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
    return UInt(bitPattern: memory)
  }

  package func free(_ address: UInt, byteCount: Int) {
    // Every address came from `allocate`, and comes back once.
    unsafe UnsafeMutableRawPointer(bitPattern: address)!.deallocate()
  }
}
