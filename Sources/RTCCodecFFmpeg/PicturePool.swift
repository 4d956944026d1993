internal import RTCMedia
internal import Synchronization

/// Memory for converted pictures, used again when its lease is over.
final class PicturePool: Sendable {
  /// As addresses, with their sizes. A consumer that keeps many pictures gets fresh memory; the pool stays small.
  private let free = Mutex<[(address: UInt, size: Int)]>([])
  private let counters: PictureCounters
  private let memory: any DecoderMemory
  private static let keptBlocks = 3

  init(counters: PictureCounters, memory: any DecoderMemory) {
    self.counters = counters
    self.memory = memory
  }

  deinit { for block in free.withLock({ $0 }) { memory.free(block.address, byteCount: block.size) } }

  /// A picture written by `fill`, which gets base and stride of each plane; nil when it says false,
  /// or without memory.
  func buffer(
    _ format: PixelFormat, _ extent: PixelSize,
    fill: ([(base: UnsafeMutablePointer<UInt8>, stride: Int)]) -> Bool
  ) -> PixelBuffer? {
    var offsets: [(offset: Int, stride: Int)] = []
    var total = 64
    for index in 0..<format.planeCount {
      let plane = format.planeExtent(index, of: extent)
      let stride = (plane.rowBytes + 63) / 64 * 64
      offsets.append((total - 64, stride))
      // swscale may write whole vectors past a row's end.
      total += stride * plane.rows + 64
    }
    let size = total
    guard let block = take(size) else { return nil }
    let base = UnsafeMutablePointer<UInt8>(bitPattern: block)!
    guard fill(offsets.map { (base + $0.offset, $0.stride) }) else {
      give(block, size)
      return nil
    }
    counters.noteLease()
    let planes = offsets.map { (UnsafeRawPointer(base + $0.offset), $0.stride) }
    // The block is out of the pool until this release, which happens once: nobody writes to it meanwhile.
    return PixelBuffer(format: format, size: extent, planes: planes) { [self] in
      give(block, size)
      counters.noteRelease()
    }
  }

  private func take(_ size: Int) -> UInt? {
    let kept = free.withLock { free -> UInt? in
      guard let index = free.firstIndex(where: { $0.size == size }) else { return nil }
      return free.remove(at: index).address
    }
    return kept ?? memory.allocate(byteCount: size)
  }

  private func give(_ block: UInt, _ size: Int) {
    let surplus = free.withLock { free -> (address: UInt, size: Int)? in
      // Pictures of another size are over.
      if let other = free.firstIndex(where: { $0.size != size }) {
        defer { free[other] = (block, size) }
        return free[other]
      }
      guard free.count < Self.keptBlocks else { return (block, size) }
      free.append((block, size))
      return nil
    }
    if let surplus { memory.free(surplus.address, byteCount: surplus.size) }
  }
}
