import Synchronization

/// Memory for pictures that is reused when their leases are over. Any thread; outlives its pictures.
///
/// If many pictures are kept, each gets new memory; the pool itself stays small.
public final class PixelBufferPool: Sendable {
  private struct Block {
    var address: UInt
    var size: Int
  }

  private let free = Mutex<[Block]>([])
  private let most: Int
  private let memory: any DecoderMemory

  /// - Parameter count: blocks kept for later at most.
  public convenience init(keeping count: Int = 4) { self.init(keeping: count, memory: OwnDecoderMemory()) }

  /// - Parameter memory: where the blocks come from.
  package init(keeping count: Int = 4, memory: any DecoderMemory) {
    most = count
    self.memory = memory
  }

  deinit { for block in free.withLock({ $0 }) { memory.free(block.address, byteCount: block.size) } }

  /// A picture of unused memory, written by `fill`, which gets each plane's index, bytes and stride (a multiple of 64
  /// bytes). The bytes are undefined before. Nil for an empty picture, or without memory.
  public func buffer(
    _ format: PixelFormat, _ size: PixelSize, fill: (Int, inout MutableSpan<UInt8>, _ stride: Int) -> Void
  ) -> PixelBuffer? {
    guard size.width > 0, size.height > 0 else { return nil }
    var planes: [(offset: Int, stride: Int, count: Int)] = []
    var total = 0
    for index in 0..<format.planeCount {
      let extent = format.planeExtent(index, of: size)
      let stride = (extent.rowBytes + 63) / 64 * 64
      planes.append((total, stride, stride * extent.rows))
      total += stride * extent.rows
    }
    let byteCount = total
    guard let block = take(byteCount) else { return nil }
    // The block is ours alone from `take` to `give`, and has room for all planes.
    let base = unsafe UnsafeMutablePointer<UInt8>(bitPattern: block)!
    for (index, plane) in planes.enumerated() {
      var span = unsafe MutableSpan<UInt8>(_unsafeStart: base + plane.offset, count: plane.count)
      fill(index, &span, plane.stride)
    }
    let leased = unsafe planes.map { unsafe (UnsafeRawPointer(base + $0.offset), $0.stride) }
    return unsafe PixelBuffer(format: format, size: size, planes: leased) { [self] in
      give(Block(address: block, size: byteCount))
    }
  }

  private func take(_ size: Int) -> UInt? {
    let kept = free.withLock { free -> UInt? in
      guard let index = free.lastIndex(where: { $0.size == size }) else { return nil }
      return free.remove(at: index).address
    }
    return kept ?? memory.allocate(byteCount: size)
  }

  private func give(_ block: Block) {
    let surplus = free.withLock { free -> Block? in
      // Pictures of another size are over.
      if let other = free.firstIndex(where: { $0.size != block.size }) {
        defer { free[other] = block }
        return free[other]
      }
      guard free.count < most else { return block }
      free.append(block)
      return nil
    }
    if let surplus { memory.free(surplus.address, byteCount: surplus.size) }
  }
}
