package import RTCPrimitives

extension PixelSize {
  /// The size of the rotated picture.
  package func turned(_ rotation: VideoRotation) -> PixelSize {
    rotation == .none || rotation == .half ? self : PixelSize(width: height, height: width)
  }
}

extension PixelRect {
  /// The position in the rotated picture of `size`.
  package func turned(_ rotation: VideoRotation, within size: PixelSize) -> PixelRect {
    switch rotation {
    case .none: self
    case .clockwise90: PixelRect(x: size.height - maxY, y: x, width: height, height: width)
    case .half: PixelRect(x: size.width - maxX, y: size.height - maxY, width: width, height: height)
    case .clockwise270: PixelRect(x: y, y: size.width - maxX, width: height, height: width)
    }
  }
}
