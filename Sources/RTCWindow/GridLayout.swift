package import RTCMedia

/// The layout of pictures in a window.
package enum GridLayout {
  /// A row never has more cells than this.
  private static let mostColumns = 3

  /// The whole cells of a grid, in reading order, that show `pictures` as large as can be: columns are chosen for the
  /// largest sum of picture areas, the most where several serve about alike. A last row that is not full is centred.
  ///
  /// - Parameter pictures: sizes as shown, so after rotation; nil where nothing has come yet.
  package static func cells(for pictures: [PixelSize?], in window: PixelSize) -> [PixelRect] {
    var best: (cells: [PixelRect], area: Int) = ([], 0)
    for columns in 1...max(1, min(mostColumns, pictures.count)) {
      let cells = cells(count: pictures.count, columns: columns, in: window)
      let area = zip(pictures, cells).reduce(0) { sum, each in
        sum + fit(each.0 ?? PixelSize(width: 16, height: 9), into: each.1).area
      }
      if area * 100 >= best.area * 98 { best = (cells, area) }
    }
    return best.cells
  }

  /// If there are screens and other pictures, the screens get the room and the others a strip: at the side of a wide
  /// window, at the bottom of a tall one. Otherwise a grid.
  package static func cells(
    for pictures: [(size: PixelSize?, isScreen: Bool)], in window: PixelSize
  ) -> [PixelRect] {
    let screens = pictures.indices.filter { pictures[$0].isScreen }
    let others = pictures.indices.filter { !pictures[$0].isScreen }
    guard !screens.isEmpty, !others.isEmpty else { return cells(for: pictures.map(\.size), in: window) }
    let isWide = window.width >= window.height
    let (width, height) = (
      isWide ? window.width * 4 / 5 : window.width, isWide ? window.height : window.height * 4 / 5
    )
    var all = Array(repeating: PixelRect(x: 0, y: 0, width: 0, height: 0), count: pictures.count)
    let room = cells(for: screens.map { pictures[$0].size }, in: PixelSize(width: width, height: height))
    for (index, cell) in zip(screens, room) { all[index] = cell }
    for (place, index) in others.enumerated() {
      let length = isWide ? window.height : window.width
      let (low, high) = (place * length / others.count, (place + 1) * length / others.count)
      all[index] =
        isWide
        ? PixelRect(x: width, y: low, width: window.width - width, height: high - low)
        : PixelRect(x: low, y: height, width: high - low, height: window.height - height)
    }
    return all
  }

  private static func cells(count: Int, columns: Int, in window: PixelSize) -> [PixelRect] {
    guard count > 0 else { return [] }
    let rows = (count + columns - 1) / columns
    let inLastRow = count - (rows - 1) * columns
    return (0..<count).map { index in
      let (row, column) = (index / columns, index % columns)
      let indent = row == rows - 1 ? (columns - inLastRow) * window.width / columns / 2 : 0
      let (left, right) = (column * window.width / columns, (column + 1) * window.width / columns)
      let (top, bottom) = (row * window.height / rows, (row + 1) * window.height / rows)
      return PixelRect(x: left + indent, y: top, width: right - left, height: bottom - top)
    }
  }

  /// The largest centred rectangle of `cell` with the aspect of `picture`.
  package static func fit(_ picture: PixelSize, into cell: PixelRect) -> PixelRect {
    guard picture.width > 0, picture.height > 0, !cell.isEmpty else {
      return PixelRect(x: cell.x, y: cell.y, width: 0, height: 0)
    }
    var (width, height) = (cell.width, cell.height)
    if picture.width * cell.height > cell.width * picture.height {
      height = max(1, (cell.width * picture.height + picture.width / 2) / picture.width)
    } else {
      width = max(1, (cell.height * picture.width + picture.height / 2) / picture.height)
    }
    return PixelRect(
      x: cell.x + (cell.width - width) / 2, y: cell.y + (cell.height - height) / 2, width: width, height: height)
  }

  /// A corner of the window, for the local picture.
  package enum Corner: CaseIterable, Sendable {
    case bottomRight, bottomLeft, topRight, topLeft

    /// The corner nearest to a point.
    package init(nearestTo point: (x: Int, y: Int), in window: PixelSize) {
      self =
        switch (point.x * 2 < window.width, point.y * 2 < window.height) {
        case (true, true): .topLeft
        case (true, false): .bottomLeft
        case (false, true): .topRight
        case (false, false): .bottomRight
        }
    }
  }

  /// The local picture's place: a quarter of the window's width and height at most, a little off the edges.
  package static func preview(_ picture: PixelSize, at corner: Corner, in window: PixelSize) -> PixelRect {
    let margin = min(window.width, window.height) / 40
    let size = fit(picture, into: PixelRect(x: 0, y: 0, width: window.width / 4, height: window.height / 4))
    let x = corner == .topLeft || corner == .bottomLeft ? margin : window.width - margin - size.width
    let y = corner == .topLeft || corner == .topRight ? margin : window.height - margin - size.height
    return PixelRect(x: x, y: y, width: size.width, height: size.height)
  }
}

extension VideoFrame {
  /// Its size for display, after rotation.
  package var shownSize: PixelSize {
    switch rotation {
    case .none, .half: size
    case .clockwise90, .clockwise270: PixelSize(width: size.height, height: size.width)
    }
  }
}
