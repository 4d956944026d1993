import RTCMedia

/// The corner of the local picture, and its position while it is dragged.
struct PreviewPlace {
  var isHidden = false
  private var corner = GridLayout.Corner.bottomRight
  private var drag: Drag?

  private struct Drag {
    /// The distance of the picture's corner from the pointer.
    var offset: (x: Int, y: Int)
    var pointer: (x: Int, y: Int)
    var size: PixelSize
  }

  /// The position of a picture of this size; nil when it is hidden.
  func rect(for picture: PixelSize, in window: PixelSize) -> PixelRect? {
    guard !isHidden else { return nil }
    let place = GridLayout.preview(picture, at: corner, in: window)
    guard let drag else { return place }
    return PixelRect(
      x: drag.pointer.x + drag.offset.x, y: drag.pointer.y + drag.offset.y, width: place.width, height: place.height)
  }

  /// Begins to drag; false when the picture is not at that point.
  mutating func take(at point: (x: Int, y: Int), _ picture: PixelSize, in window: PixelSize) -> Bool {
    guard let place = rect(for: picture, in: window), (place.x..<place.maxX).contains(point.x),
      (place.y..<place.maxY).contains(point.y)
    else { return false }
    drag = Drag(
      offset: (place.x - point.x, place.y - point.y), pointer: point,
      size: PixelSize(width: place.width, height: place.height))
    return true
  }

  /// False when nothing is dragged.
  mutating func move(to point: (x: Int, y: Int)) -> Bool {
    guard drag != nil else { return false }
    drag?.pointer = point
    return true
  }

  /// Drops the picture into the nearest corner; false when nothing was dragged.
  mutating func release(in window: PixelSize) -> Bool {
    guard let drag else { return false }
    let middle = (
      x: drag.pointer.x + drag.offset.x + drag.size.width / 2, y: drag.pointer.y + drag.offset.y + drag.size.height / 2
    )
    corner = GridLayout.Corner(nearestTo: middle, in: window)
    self.drag = nil
    return true
  }
}
