import Glibc
import RTCMedia

/// The pictures behind a `BlockMap`: the newest pixels, and the picture that the codec is given.
@safe
final class BlockPictures {
  /// The picture that the codec codes: the pixels that viewers have, and in the active blocks the newest pixels.
  let input: InputPicture
  private let newest: InputPicture
  /// The pixels that viewers have, before coding: the newest pixels except for changes that were left out.
  private let coded: InputPicture
  /// Copies of `input` and `coded`, made when they are first needed.
  private var stored: (input: InputPicture, coded: InputPicture)?
  /// The number of rows of the last scroll: the next one is likely to move as far.
  private var lastScroll: Int?
  private let columns: Int
  /// The side of a block in each plane.
  private let sides: [Int]
  /// The size of the pictures that are taken.
  private let size: PixelSize
  /// The side, in blocks, of a group that the codec codes as one.
  private let group: Int

  /// - Parameter codedSize: the size of the pictures here, at most one column and one row more than `size`.
  init(size: PixelSize, codedSize: PixelSize, chroma: ChromaSampling, group: Int) {
    let format: PixelFormat = chroma == .full ? .i444 : .i420
    self.size = size
    self.group = group
    input = InputPicture(format: format, size: codedSize)
    newest = InputPicture(format: format, size: codedSize)
    coded = InputPicture(format: format, size: codedSize)
    columns = (size.width + 15) / 16
    sides = chroma == .full ? [16, 16, 16] : [16, 8, 8]
  }

  /// Takes the pixels of `blocks` and says in which they differ from those before.
  ///
  /// - Parameter source: of `picture`'s format and the size of the pictures that are taken.
  func take(_ blocks: [Int], from source: EncodeJob.Source, of picture: InputPicture) -> [Int] {
    let planes = unsafe (0..<3).map { unsafe plane($0, of: source, or: picture) }
    let own = unsafe (0..<3).map { unsafe newest.unsafePlane($0) }
    let extents = (0..<3).map { newest.format.planeExtent($0, of: size) }
    func area(_ block: Int, _ count: Int, _ index: Int) -> Area {
      Area(
        block, count: count, columns, side: sides[index], rowBytes: extents[index].rowBytes, rows: extents[index].rows)
    }
    let changed = blocks.filter { block in
      for index in 0..<3 {
        let area = area(block, 1, index)
        var from = unsafe planes[index].base + area.rows.lowerBound * planes[index].stride + area.x
        var to = unsafe own[index].base + area.rows.lowerBound * own[index].stride + area.x
        for _ in area.rows {
          guard unsafe Self.isEqual(from, to, area.width) else { return true }
          unsafe (from, to) = (from + planes[index].stride, to + own[index].stride)
        }
      }
      return false
    }
    forEachRun(of: changed) { block, count in
      for index in 0..<3 {
        let area = area(block, count, index)
        unsafe Self.copy(
          area, from: planes[index].base + area.rows.lowerBound * planes[index].stride, planes[index].stride,
          to: own[index].base + area.rows.lowerBound * own[index].stride, own[index].stride)
      }
    }
    if newest.size != size, !changed.isEmpty { repeatEdges() }
    return changed
  }

  /// Fills what the coded size has more than the taken with the last column and row of luma; of chroma it has no more, as
  /// only sizes that halve are rounded up.
  private func repeatEdges() {
    let plane = unsafe newest.unsafePlane(0)
    if unsafe plane.rowBytes > size.width {
      for row in 0..<size.height {
        unsafe plane.base[row * plane.stride + size.width] = plane.base[row * plane.stride + size.width - 1]
      }
    }
    guard unsafe plane.rows > size.height else { return }
    let last = unsafe plane.base + (size.height - 1) * plane.stride
    unsafe (last + plane.stride).update(from: last, count: plane.rowBytes)
  }

  /// Gives the codec the newest pixels of the active blocks.
  ///
  /// - Parameter isBlurred: only their means, by eight pixels each way of luma.
  func compose(_ active: [Bool], isBlurred: Bool) {
    let blocks = active.indices.filter { active[$0] }
    copy(blocks, of: newest, to: input)
    copy(blocks, of: newest, to: coded)
    if isBlurred { blocks.forEach(blur) }
  }

  private func blur(_ block: Int) {
    for index in 0..<3 {
      let plane = unsafe input.unsafePlane(index)
      let area = unsafe Area(block, columns, side: sides[index], plane)
      let side = sides[index] / 2
      for top in stride(from: area.rows.lowerBound, to: area.rows.upperBound, by: side) {
        for left in stride(from: area.x, to: area.x + area.width, by: side) {
          let (rows, width) = (top..<min(top + side, area.rows.upperBound), min(side, area.x + area.width - left))
          var sum = 0
          for row in rows {
            for column in left..<left + width { sum += Int(unsafe plane.base[row * plane.stride + column]) }
          }
          let mean = UInt8(sum / (rows.count * width))
          for row in rows { unsafe (plane.base + row * plane.stride + left).update(repeating: mean, count: width) }
        }
      }
    }
  }

  private func copy(_ blocks: [Int], of source: InputPicture, to target: InputPicture) {
    forEachRun(of: blocks) { block, count in
      for index in 0..<3 {
        let (from, to) = unsafe (source.unsafePlane(index), target.unsafePlane(index))
        let area = unsafe Area(block, count: count, columns, side: sides[index], to)
        let offset = unsafe area.rows.lowerBound * to.stride
        unsafe Self.copy(area, from: from.base + offset, from.stride, to: to.base + offset, to.stride)
      }
    }
  }

  /// Calls `body` with the first block and the length of each run of neighbours in a row of `blocks`, which ascend: rows of
  /// pixels are copied whole, as most runs are long.
  private func forEachRun(of blocks: [Int], fromEnd: Bool = false, _ body: (_ first: Int, _ count: Int) -> Void) {
    var (start, end) = (0, blocks.count)
    func isJoined(_ index: Int) -> Bool { blocks[index] == blocks[index - 1] + 1 && blocks[index] % columns != 0 }
    while start < end {
      var count = 1
      if fromEnd {
        while end - count > start, isJoined(end - count) { count += 1 }
        end -= count
        body(blocks[end], count)
      } else {
        while start + count < end, isJoined(start + count) { count += 1 }
        body(blocks[start], count)
        start += count
      }
    }
  }

  /// Copies `area`; both bases are of its first row in their plane.
  @unsafe
  private static func copy(
    _ area: Area, from: UnsafePointer<UInt8>, _ fromStride: Int, to: UnsafeMutablePointer<UInt8>, _ toStride: Int
  ) {
    var (source, target) = unsafe (from + area.x, to + area.x)
    for _ in area.rows {
      unsafe target.update(from: source, count: area.width)
      unsafe (source, target) = (source + fromStride, target + toStride)
    }
  }

  // MARK: - What only moved

  /// How many rows lower most of what changed was in the picture that viewers have, and the blocks that were; nil when it did
  /// not move up or down.
  ///
  /// - Parameter changed: in ascending order.
  func scroll(_ changed: [Int]) -> (distance: Int, blocks: [Int])? {
    if let lastScroll {
      let blocks = moved(changed, by: lastScroll)
      if blocks.count * 4 >= changed.count * 3 { return (lastScroll, blocks) }
    }
    lastScroll = distance(changed)
    return lastScroll.map { ($0, moved(changed, by: $0)) }
  }

  /// The number of rows by which the picture moved, as most of the rows that differ from each other show; nil when they
  /// do not agree.
  private func distance(_ changed: [Int]) -> Int? {
    guard let bounds = mainBounds(changed) else { return nil }
    let (before, now) = (signatures(of: coded, in: bounds), signatures(of: newest, in: bounds))
    var places: [UInt64: Int] = [:]
    for (row, signature) in before.enumerated() {
      guard let signature else { continue }
      // Rows that look like others tell nothing.
      places[signature] = places[signature] == nil ? row : -1
    }
    var votes: [Int: Int] = [:]
    var count = 0
    for (row, signature) in now.enumerated() {
      guard let signature else { continue }
      count += 1
      if let place = places[signature], place >= 0 { votes[place - row, default: 0] += 1 }
    }
    guard let best = votes.max(by: { ($0.value, -abs($0.key)) < ($1.value, -abs($1.key)) }), best.key != 0,
      best.value >= 8, best.value * 4 >= count
    else { return nil }
    // Colours of four pixels move with an even number of rows alone.
    return sides[1] == 16 || best.key % 2 == 0 ? best.key : nil
  }

  /// The blocks of `changed` whose pixels are those that viewers have `scroll` rows lower.
  private func moved(_ changed: [Int], by scroll: Int) -> [Int] {
    let planes = unsafe (0..<3).map { unsafe (old: coded.unsafePlane($0), new: newest.unsafePlane($0)) }
    return changed.filter { block in
      for index in 0..<3 {
        let (old, new) = unsafe planes[index]
        let area = unsafe Area(block, columns, side: sides[index], new)
        let first = area.rows.lowerBound + scroll * sides[index] / 16
        guard first >= 0, unsafe first + area.rows.count <= old.rows else { return false }
        var now = unsafe UnsafePointer(new.base + area.rows.lowerBound * new.stride + area.x)
        var before = unsafe UnsafePointer(old.base + first * old.stride + area.x)
        for _ in area.rows {
          guard unsafe Self.isEqual(now, before, area.width) else { return false }
          unsafe (now, before) = (now + new.stride, before + old.stride)
        }
      }
      return true
    }
  }

  /// Gives the codec for the blocks of `moved` what viewers have `scroll` rows lower: it finds it there, and has nothing to
  /// code. All are of `scroll(_:)`.
  func move(_ moved: [Int], by scroll: Int) {
    for index in 0..<3 {
      let plane = unsafe input.unsafePlane(index)
      let distance = scroll * sides[index] / 16
      // In place: rows are read before they are written, from the top when they move up, from the bottom when down.
      forEachRun(of: moved, fromEnd: distance < 0) { block, count in
        let area = unsafe Area(block, count: count, columns, side: sides[index], plane)
        let last = area.rows.upperBound - 1
        for row in area.rows {
          let row = distance < 0 ? last - (row - area.rows.lowerBound) : row
          let target = unsafe plane.base + row * plane.stride + area.x
          unsafe target.update(from: target + distance * plane.stride, count: area.width)
        }
      }
    }
    copy(moved, of: newest, to: coded)
  }

  /// The smallest rectangle of whole blocks around the main part of what changed: the rows in which more than 60 % changed
  /// of what did in the fullest, without a clock in a corner, say.
  private func mainBounds(_ changed: [Int]) -> PixelRect? {
    var counts: [Int: Int] = [:]
    for block in changed { counts[block / columns, default: 0] += 1 }
    guard let most = counts.values.max() else { return nil }
    var bounds = PixelRect(x: 0, y: 0, width: 0, height: 0)
    for block in changed where counts[block / columns]! * 5 > most * 3 {
      let rect = PixelRect(x: block % columns * 16, y: block / columns * 16, width: 16, height: 16)
      bounds = bounds.isEmpty ? rect : bounds.union(rect)
    }
    return bounds.intersection(PixelRect(input.size))
  }

  /// A number for each row of luma in `bounds`, equal for equal rows; nil for rows of one colour.
  private func signatures(of picture: InputPicture, in bounds: PixelRect) -> [UInt64?] {
    let plane = unsafe picture.unsafePlane(0)
    return (bounds.y..<bounds.maxY).map { row in
      // By words; what is left of a width that is not of whole ones tells little.
      let line = unsafe UnsafeRawPointer(plane.base + row * plane.stride + bounds.x)
      let first = unsafe UInt64(line.load(as: UInt8.self)) &* 0x0101_0101_0101_0101
      var hash: UInt64 = 0xcbf2_9ce4_8422_2325
      var isPlain = true
      for offset in stride(from: 0, to: bounds.width - 7, by: 8) {
        let word = unsafe line.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
        hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        if word != first { isPlain = false }
      }
      return isPlain ? nil : hash
    }
  }

  // MARK: - What viewers have

  /// Remembers what viewers have, for `restore`; 1 ms for 1080p.
  func store() {
    let copies: (input: InputPicture, coded: InputPicture) =
      stored
      ?? (
        InputPicture(format: input.format, size: input.size), InputPicture(format: input.format, size: input.size)
      )
    stored = copies
    Self.copyAll(input, to: copies.input)
    Self.copyAll(coded, to: copies.coded)
  }

  /// Forgets what happened since `store`: viewers are predicted to have the pictures of then.
  func restore() {
    guard let stored else { return }
    Self.copyAll(stored.input, to: input)
    Self.copyAll(stored.coded, to: coded)
  }

  private static func copyAll(_ source: InputPicture, to target: InputPicture) {
    for index in 0..<source.format.planeCount {
      let (from, to) = unsafe (source.unsafePlane(index), target.unsafePlane(index))
      // Both have the same format and size.
      unsafe to.base.update(from: from.base, count: from.stride * from.rows)
    }
  }

  /// The samples of a plane that viewers have, without gaps.
  func shownSamples(_ index: Int) -> [UInt8] {
    let plane = unsafe input.unsafePlane(index)
    var samples: [UInt8] = []
    for row in 0..<(unsafe plane.rows) {
      unsafe samples.append(
        contentsOf: UnsafeBufferPointer(start: plane.base + row * plane.stride, count: plane.rowBytes))
    }
    return samples
  }

  /// Stores the pixels that viewers have now.
  ///
  /// - Parameters:
  ///   - isWhole: filters may have changed any block, not only the groups with active blocks.
  ///   - touched: called with each inactive block that changed.
  func keepReconstruction(
    of coder: some BlockCoder, active: [Bool], isWhole: Bool, touched: (Int) -> Void
  ) {
    let coded = active.indices.filter { active[$0] }
    let beside = (isWhole ? Array(active.indices) : wholeGroups(of: active)).filter { !active[$0] }
    unsafe coder.withReconstruction { index, base, stride, step in
      let to = unsafe input.unsafePlane(index)
      guard step == 1 else {
        for block in coded { _ = unsafe keepSpread(block, index, base, stride, step) }
        for block in beside where unsafe keepSpread(block, index, base, stride, step) { touched(block) }
        return
      }
      forEachRun(of: coded) { block, count in
        let area = unsafe Area(block, count: count, columns, side: sides[index], to)
        unsafe Self.copy(
          area, from: base + area.rows.lowerBound * stride, stride,
          to: to.base + area.rows.lowerBound * to.stride, to.stride)
      }
      forEachRun(of: beside) { block, count in
        let run = unsafe Area(block, count: count, columns, side: sides[index], to)
        let isSame = run.rows.allSatisfy { row in
          unsafe memcmp(base + row * stride + run.x, to.base + row * to.stride + run.x, run.width) == 0
        }
        guard !isSame else { return }
        for block in block..<block + count {
          let area = unsafe Area(block, columns, side: sides[index], to)
          var differs = false
          for row in area.rows {
            let (from, target) = unsafe (base + row * stride + area.x, to.base + row * to.stride + area.x)
            guard unsafe !Self.isEqual(from, target, area.width) else { continue }
            differs = true
            unsafe target.update(from: from, count: area.width)
          }
          if differs { touched(block) }
        }
      }
    }
  }

  /// Stores a block of a plane whose samples lie `step` bytes apart; true where the block changed.
  @unsafe
  private func keepSpread(
    _ block: Int, _ index: Int, _ base: UnsafePointer<UInt8>, _ stride: Int, _ step: Int
  ) -> Bool {
    let to = unsafe input.unsafePlane(index)
    let area = unsafe Area(block, columns, side: sides[index], to)
    // Beside the last column another block follows: what lies between its samples may be read.
    let isWide = step == 2 && area.width == 8 && (block + 1) % columns != 0
    var differs = false
    for row in area.rows {
      let from = unsafe base + row * stride + area.x * step
      let target = unsafe to.base + row * to.stride + area.x
      if isWide {
        let words = unsafe UnsafeRawPointer(from).loadUnaligned(as: SIMD2<UInt64>.self)
        let samples = (Self.evenBytes(words.x) | Self.evenBytes(words.y) << 32).littleEndian
        guard unsafe samples != UnsafeRawPointer(target).loadUnaligned(as: UInt64.self) else { continue }
        unsafe UnsafeMutableRawPointer(target).storeBytes(of: samples, as: UInt64.self)
        differs = true
      } else {
        for column in 0..<area.width where unsafe target[column] != from[column * step] {
          unsafe target[column] = from[column * step]
          differs = true
        }
      }
    }
    return differs
  }

  /// The first, third, fifth and seventh byte of a word from memory, the first as the lowest.
  private static func evenBytes(_ word: UInt64) -> UInt64 {
    let spread = UInt64(littleEndian: word) & 0x00FF_00FF_00FF_00FF
    let pairs = (spread | spread >> 8) & 0x0000_FFFF_0000_FFFF
    return (pairs | pairs >> 16) & 0xFFFF_FFFF
  }

  /// All blocks of the groups in which one is active.
  private func wholeGroups(of active: [Bool]) -> [Int] {
    guard group > 1 else { return active.indices.filter { active[$0] } }
    let across = (columns + group - 1) / group
    var isActive = [Bool](repeating: false, count: across * ((active.count / columns + group - 1) / group))
    for block in active.indices where active[block] {
      isActive[block / columns / group * across + block % columns / group] = true
    }
    return active.indices.filter { isActive[$0 / columns / group * across + $0 % columns / group] }
  }

  /// The detail in a block's luma. Four lines of sixteen distinguish text from plain ground well enough.
  func detail(of block: Int) -> BlockDetail {
    let plane = unsafe newest.unsafePlane(0)
    let area = unsafe Area(block, columns, side: 16, plane)
    var (activity, similar) = (0, 0)
    for row in stride(from: area.rows.lowerBound + 1, to: area.rows.upperBound, by: 4) {
      // The line belongs to `newest`, which lives as long as this.
      let line = unsafe Span(_unsafeStart: plane.base + row * plane.stride + area.x, count: area.width)
      let detail = LineDetail(line)
      (activity, similar) = (activity + detail.activity, similar + detail.similar)
    }
    return BlockDetail(weight: UInt8(min(255, 1 + activity / 8)), similar: UInt8(similar))
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

  /// As `memcmp`, without a call for the widths that nearly all rows of blocks have.
  private static func isEqual(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ count: Int) -> Bool {
    let (x, y) = unsafe (UnsafeRawPointer(a), UnsafeRawPointer(b))
    switch count {
    case 16: return unsafe x.loadUnaligned(as: SIMD2<UInt64>.self) == y.loadUnaligned(as: SIMD2<UInt64>.self)
    case 8: return unsafe x.loadUnaligned(as: UInt64.self) == y.loadUnaligned(as: UInt64.self)
    default: return unsafe memcmp(x, y, count) == 0
    }
  }

  /// The place of a block, or of a run of neighbours, in a plane, as far as it is inside.
  private struct Area {
    let x: Int
    let width: Int
    let rows: Range<Int>

    init(_ block: Int, count: Int = 1, _ columns: Int, side: Int, _ plane: InputPicture.Plane) {
      unsafe self.init(block, count: count, columns, side: side, rowBytes: plane.rowBytes, rows: plane.rows)
    }

    /// - Parameter count: of blocks in a row.
    init(_ block: Int, count: Int = 1, _ columns: Int, side: Int, rowBytes: Int, rows: Int) {
      let (row, column) = (block / columns, block % columns)
      x = column * side
      width = min(side * count, rowBytes - x)
      self.rows = row * side..<min((row + 1) * side, rows)
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
