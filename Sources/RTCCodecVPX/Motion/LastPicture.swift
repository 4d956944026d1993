import Glibc
package import RTCMedia

/// The samples of the picture that was coded last, in which the moved parts of the next picture are searched.
@safe
package final class LastPicture {
  private let size: PixelSize
  private let planes: InputPicture
  /// The line hashes of a part of this picture; nil when none are known.
  private var hashes: LineHashes?
  /// The line hashes of the picture that this one was compared with last, which may be copied next.
  private var nextHashes: LineHashes?

  package init(size: PixelSize) {
    self.size = size
    planes = InputPicture(size: size)
  }

  /// Says that another picture is to be compared and copied now.
  package func beginPicture() { nextHashes = nil }

  /// Copies the given macroblocks; they must include all that differ. It takes 0.3 ms for a whole picture of 1080p.
  /// - Parameters:
  ///   - source: planes of this picture's size.
  ///   - spans: macroblocks, by row.
  @unsafe
  func copy(_ source: [VPXPlane], spans: [(row: Int, columns: Range<Int>)]) {
    (hashes, nextHashes) = (nextHashes, nil)
    for index in 0..<3 {
      let target = unsafe planes.unsafePlane(index)
      let from = unsafe source[index]
      let side = index == 0 ? 16 : 8
      for (row, columns) in spans {
        let first = columns.lowerBound * side
        let count = unsafe min(columns.upperBound * side, target.rowBytes) - first
        for line in unsafe row * side..<min((row + 1) * side, target.rows) {
          // Both planes have this line, with as many samples.
          unsafe memcpy(target.base + line * target.stride + first, from.base + line * from.stride + first, count)
        }
      }
    }
  }

  /// Copies all of a picture of the same size.
  package func copy(_ picture: InputPicture) {
    let (columns, rows) = ((size.width + 15) / 16, (size.height + 15) / 16)
    unsafe copy(VPXPlane.planes(of: .inputPicture, picture), spans: (0..<rows).map { ($0, 0..<columns) })
  }

  // MARK: What scrolled

  /// The number of lines by which `rect` of `source` has scrolled since (down counts positive); nil when it has not. A
  /// hint, to be followed by a comparison of the samples.
  @unsafe
  func scrollDistance(_ source: [VPXPlane], in rect: PixelRect) -> Int? {
    guard rect.width >= 64, rect.height >= 64 else { return nil }
    let old = if let hashes, hashes.rect == rect { hashes } else { unsafe LineHashes(plane(0), rect) }
    let new = unsafe LineHashes(source[0], rect)
    (hashes, nextHashes) = (old, new)
    return ScrollSearch.distance(from: old, to: new)
  }

  /// The number of lines by which `rect` of a picture of the same size has scrolled since, as for planes.
  package func scrollDistance(_ picture: InputPicture, in rect: PixelRect) -> Int? {
    precondition(rect.intersection(PixelRect(size)) == rect && picture.size == size)
    return unsafe scrollDistance(VPXPlane.planes(of: .inputPicture, picture), in: rect)
  }

  /// Where the changed macroblocks of `source` come from, when much of it scrolled by `distance` lines.
  @unsafe
  func motion(_ source: [VPXPlane], distance: Int, map: MacroblockMap) -> MotionField {
    var field = MotionField(columns: map.columns, rows: map.rows)
    let still = unsafe comparison(source, vector: 0)
    let moved = unsafe comparison(source, vector: -distance)
    for row in 0..<map.rows {
      let start = row * 16 - distance
      let isInside = distance != 0 && start >= 0 && start <= (map.rows - 1) * 16
      for column in 0..<map.columns where map.quality[row * map.columns + column] == MacroblockMap.changed {
        if isInside, moved.isSame(row, column) {
          let isSoft = distance & 1 != 0 && moved.hasColours(row, column)
          field.choose(-distance, match: isSoft ? .softened : .exact, row: row, column: column)
        } else if still.isSame(row, column) {
          field.choose(0, match: .exact, row: row, column: column)
        } else {
          let isLiker = isInside && moved.sameLines(row, column) > still.sameLines(row, column)
          field.choose(isLiker ? -distance : 0, match: .new, row: row, column: column)
        }
      }
    }
    return field
  }

  @unsafe
  private func comparison(_ source: [VPXPlane], vector: Int) -> MovedComparison {
    let last = unsafe (0..<3).map { unsafe plane($0) }
    return unsafe MovedComparison(size: size, source: source, last: last, vector: vector)
  }

  @unsafe
  private func plane(_ index: Int) -> VPXPlane {
    let plane = unsafe planes.unsafePlane(index)
    return unsafe VPXPlane(base: UnsafePointer(plane.base), stride: plane.stride)
  }
}
