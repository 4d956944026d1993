import RTCMedia

/// Compares what viewers see of 16×16 blocks with what they should see, as long as the owners of both pictures are held.
@safe
struct BlockComparison {
  private let size: PixelSize
  private let source: [VPXPlane]
  private let shown: [VPXPlane]
  private let chroma: ChromaSampling

  /// The mean square of the difference that nobody sees: 48 dB of luma; and 44 dB of red, green and blue, where colours
  /// are as many as pixels.
  private var limits: (luma: Double, chroma: Double) { chroma == .full ? (0.8, 0.6) : (1, 1) }

  /// - Parameters:
  ///   - source: of a picture of `size`.
  ///   - shown: of one of the same size and chroma.
  @unsafe
  init(size: PixelSize, chroma: ChromaSampling, source: [VPXPlane], shown: [VPXPlane]) {
    self.size = size
    self.chroma = chroma
    unsafe self.source = source
    unsafe self.shown = shown
  }

  /// True when the eye sees no difference in the block.
  /// - Parameter peak: nor is a single sample off by more; what is faint may have changed.
  func isClose(row: Int, column: Int, peak: Int = 255) -> Bool {
    (0..<3).allSatisfy { index in
      let isWhole = index == 0 || chroma == .full
      let (side, width, height) =
        isWhole ? (16, size.width, size.height) : (8, (size.width + 1) / 2, (size.height + 1) / 2)
      let (x, y) = (column * side, row * side)
      let (columns, lines) = (min(side, width - x), min(side, height - y))
      return isClose(
        index, PixelRect(x: x, y: y, width: columns, height: lines), Int32(peak),
        limit: index == 0 ? limits.luma : limits.chroma)
    }
  }

  private func isClose(_ index: Int, _ rect: PixelRect, _ peak: Int32, limit: Double) -> Bool {
    let most = Int32(limit * Double(rect.area))
    var (squares, sum): (Int32, Int32) = (0, 0)
    for line in rect.y..<rect.maxY {
      // Within both planes.
      let a = unsafe source[index].base + line * source[index].stride + rect.x
      let b = unsafe shown[index].base + line * shown[index].stride + rect.x
      var (lineSquares, lineSum, linePeak): (Int32, Int32, Int32) = (0, 0, 0)
      for column in 0..<rect.width {
        let difference = unsafe Int32(a[column]) &- Int32(b[column])
        lineSquares &+= difference &* difference
        lineSum &+= difference
        linePeak = max(linePeak, abs(difference))
      }
      squares += lineSquares
      sum += lineSum
      if squares > most || linePeak > peak { return false }
    }
    // Plain grounds show what letters hide.
    return Int(abs(sum)) * 2 <= rect.area
  }
}
