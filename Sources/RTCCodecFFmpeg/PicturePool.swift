internal import RTCMedia
internal import Synchronization

/// Memory for converted pictures, used again when its lease is over.
final class PicturePool: Sendable {
  /// As addresses, with their sizes. A consumer that keeps many pictures gets fresh memory; the pool stays small.
  private let free = Mutex<[(address: UInt, size: Int)]>([])
  private let ledger: PictureLedger
  private static let keptBlocks = 3

  init(ledger: PictureLedger) { self.ledger = ledger }

  deinit {
    for block in free.withLock({ $0 }) { UnsafeMutableRawPointer(bitPattern: block.address)!.deallocate() }
  }

  /// A picture written by `fill`, which gets base and stride of each plane; nil when it says false.
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
    let block = take(size)
    let base = UnsafeMutablePointer<UInt8>(bitPattern: block)!
    guard fill(offsets.map { (base + $0.offset, $0.stride) }) else {
      give(block, size)
      return nil
    }
    ledger.noteLease()
    let planes = offsets.map { (UnsafeRawPointer(base + $0.offset), $0.stride) }
    // The block is out of the pool until this release, which happens once: nobody writes to it meanwhile.
    return PixelBuffer(format: format, size: extent, planes: planes) { [self] in
      give(block, size)
      ledger.noteRelease()
    }
  }

  private func take(_ size: Int) -> UInt {
    let kept = free.withLock { free -> UInt? in
      guard let index = free.firstIndex(where: { $0.size == size }) else { return nil }
      return free.remove(at: index).address
    }
    return kept ?? UInt(bitPattern: UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64))
  }

  private func give(_ block: UInt, _ size: Int) {
    let surplus = free.withLock { free -> UInt? in
      // Pictures of another size are over.
      if let other = free.firstIndex(where: { $0.size != size }) {
        defer { free[other] = (block, size) }
        return free[other].address
      }
      guard free.count < Self.keptBlocks else { return block }
      free.append((block, size))
      return nil
    }
    if let surplus { UnsafeMutableRawPointer(bitPattern: surplus)!.deallocate() }
  }
}
