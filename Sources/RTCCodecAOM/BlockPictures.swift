import Glibc
import RTCMedia

/// The pictures behind a `BlockMap`: the newest pixels, and what libaom is given of them.
@safe
final class BlockPictures {
  /// What libaom codes: what viewers have, and in the blocks that are to be coded the newest pixels.
  let input: InputPicture
  private let newest: InputPicture
  private let columns: Int
  /// The side of a block in each plane.
  private let sides: [Int]

  init(size: PixelSize, chroma: ChromaSampling) {
    let format: PixelFormat = chroma == .full ? .i444 : .i420
    input = InputPicture(format: format, size: size)
    newest = InputPicture(format: format, size: size)
    columns = (size.width + 15) / 16
    sides = chroma == .full ? [16, 16, 16] : [16, 8, 8]
  }

  /// Takes the pixels of `blocks` and says in which they differ from those before.
  ///
  /// - Parameter source: of this picture's format and size.
  func take(_ blocks: [Int], from source: EncodeJob.Source, of picture: InputPicture) -> [Int] {
    var changed: [Int] = []
    let planes = unsafe (0..<3).map { unsafe plane($0, of: source, or: picture) }
    let own = unsafe (0..<3).map { unsafe newest.unsafePlane($0) }
    for block in blocks {
      var differs = false
      for index in 0..<3 {
        let area = unsafe Area(block, columns, side: sides[index], own[index])
        for row in area.rows {
          let from = unsafe planes[index].base + row * planes[index].stride + area.x
          let to = unsafe own[index].base + row * own[index].stride + area.x
          guard unsafe differs || memcmp(from, to, area.width) != 0 else { continue }
          differs = true
          unsafe to.update(from: from, count: area.width)
        }
      }
      if differs { changed.append(block) }
    }
    return changed
  }

  /// Gives libaom the newest pixels of the active blocks.
  func compose(_ active: [Bool]) {
    for index in 0..<3 {
      let (from, to) = unsafe (newest.unsafePlane(index), input.unsafePlane(index))
      for block in active.indices where active[block] {
        let area = unsafe Area(block, columns, side: sides[index], to)
        for row in area.rows {
          let offset = unsafe row * to.stride + area.x
          unsafe (to.base + offset).update(from: from.base + offset, count: area.width)
        }
      }
    }
  }

  /// Keeps what viewers have now.
  ///
  /// - Parameters:
  ///   - isWhole: filters may have touched anything, not only the superblocks (64×64) with active blocks.
  ///   - touched: called with inactive blocks that are not as they were.
  func keepReconstruction(
    of context: AV1Context, active: [Bool], isWhole: Bool, touched: (Int) -> Void
  ) {
    let blocks = isWhole ? Array(active.indices) : superblocks(of: active)
    unsafe context.withReconstruction { index, base, stride in
      let to = unsafe input.unsafePlane(index)
      for block in blocks {
        let area = unsafe Area(block, columns, side: sides[index], to)
        var differs = active[block]
        for row in area.rows {
          let from = unsafe base + row * stride + area.x
          let target = unsafe to.base + row * to.stride + area.x
          guard unsafe differs || memcmp(from, target, area.width) != 0 else { continue }
          differs = true
          unsafe target.update(from: from, count: area.width)
        }
        if differs, !active[block] { touched(block) }
      }
    }
  }

  /// All blocks of the superblocks in which one is active.
  private func superblocks(of active: [Bool]) -> [Int] {
    let across = (columns + 3) / 4
    var isActive = [Bool](repeating: false, count: across * ((active.count / columns + 3) / 4))
    for block in active.indices where active[block] {
      isActive[block / columns / 4 * across + block % columns / 4] = true
    }
    return active.indices.filter { isActive[$0 / columns / 4 * across + $0 % columns / 4] }
  }

  /// How much detail is in a block's luma, 1…255. Four lines of sixteen tell text from plain ground well enough.
  func weight(of block: Int) -> UInt8 {
    let plane = unsafe newest.unsafePlane(0)
    let area = unsafe Area(block, columns, side: 16, plane)
    var activity = 0
    for row in stride(from: area.rows.lowerBound + 1, to: area.rows.upperBound, by: 4) {
      let line = unsafe plane.base + row * plane.stride + area.x
      for index in stride(from: 1, to: area.width, by: 1) {
        activity += abs(Int(unsafe line[index]) - Int(unsafe line[index - 1]))
      }
    }
    return UInt8(min(255, 1 + activity / 8))
  }

  /// Whether viewers see a block's luma with a mean square error of more than `limit`.
  func isBlurred(_ block: Int, beyond limit: Double) -> Bool {
    let (wanted, shown) = unsafe (newest.unsafePlane(0), input.unsafePlane(0))
    let area = unsafe Area(block, columns, side: 16, wanted)
    var sum: Int32 = 0
    for row in area.rows {
      let (a, b) = unsafe (wanted.base + row * wanted.stride + area.x, shown.base + row * shown.stride + area.x)
      for index in 0..<area.width {
        let difference = Int32(unsafe a[index]) - Int32(unsafe b[index])
        sum &+= difference &* difference
      }
    }
    return Double(sum) > limit * Double(area.width * area.rows.count)
  }

  /// Where a block lies in a plane, as far as it is inside.
  private struct Area {
    let x: Int
    let width: Int
    let rows: Range<Int>

    init(_ block: Int, _ columns: Int, side: Int, _ plane: InputPicture.Plane) {
      let (row, column) = (block / columns, block % columns)
      x = column * side
      width = unsafe min(side, plane.rowBytes - x)
      rows = unsafe row * side..<min((row + 1) * side, plane.rows)
    }
  }

  /// The planes' memory belongs to `source` or `picture`, which the caller holds.
  @unsafe
  private func plane(
    _ index: Int, of source: EncodeJob.Source, or picture: InputPicture
  ) -> (base: UnsafePointer<UInt8>, stride: Int) {
    switch source {
    case .inputPicture:
      let plane = unsafe picture.unsafePlane(index)
      return unsafe (UnsafePointer(plane.base), plane.stride)
    case .frame(let frame):
      let plane = unsafe frame.buffer.unsafePlane(index)
      return unsafe (plane.base.assumingMemoryBound(to: UInt8.self), plane.stride)
    }
  }
}
