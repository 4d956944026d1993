import RTCMedia

/// Compares what viewers see of 16×16 blocks with what they should see, as long as the owners of both pictures are held.
@safe
struct BlockComparison {
  private let size: PixelSize
  private let source: [VP8Context.Plane]
  private let shown: [VP8Context.Plane]
  private let chroma: ChromaSampling

  /// The mean square of the difference that nobody sees: 49 dB of luma. Red, green and blue are off by 44 dB and more
  /// where colours are as many as pixels.
  private static let lumaLimit = 0.8
  private static let chromaLimit = (quarter: 1.0, full: 0.7)

  /// - Parameters:
  ///   - source: of a picture of `size`.
  ///   - shown: of one of the same size and chroma.
  @unsafe
  init(size: PixelSize, chroma: ChromaSampling, source: [VP8Context.Plane], shown: [VP8Context.Plane]) {
    self.size = size
    self.chroma = chroma
    unsafe self.source = source
    unsafe self.shown = shown
  }

  /// True when the eye sees no difference in the block.
  func isClose(row: Int, column: Int) -> Bool {
    (0..<3).allSatisfy { index in
      let isWhole = index == 0 || chroma == .full
      let (side, width, height) =
        isWhole ? (16, size.width, size.height) : (8, (size.width + 1) / 2, (size.height + 1) / 2)
      let (x, y) = (column * side, row * side)
      let (columns, lines) = (min(side, width - x), min(side, height - y))
      let limit = index == 0 ? Self.lumaLimit : isWhole ? Self.chromaLimit.full : Self.chromaLimit.quarter
      return isClose(index, x: x, y: y, width: columns, height: lines, limit: limit)
    }
  }

  private func isClose(_ index: Int, x: Int, y: Int, width: Int, height: Int, limit: Double) -> Bool {
    let most = Int32(limit * Double(width * height))
    let most1 = Int32(width * height)
    var (squares, sum): (Int32, Int32) = (0, 0)
    for line in y..<y + height {
      // Within both planes.
      let a = unsafe source[index].base + line * source[index].stride + x
      let b = unsafe shown[index].base + line * shown[index].stride + x
      var (lineSquares, lineSum): (Int32, Int32) = (0, 0)
      for column in 0..<width {
        let difference = unsafe Int32(a[column]) &- Int32(b[column])
        lineSquares &+= difference &* difference
        lineSum &+= difference
      }
      squares += lineSquares
      sum += lineSum
      if squares > most { return false }
    }
    // Plain grounds show what letters hide.
    return abs(sum) * 2 <= most1
  }
}
