internal import CFFmpeg
internal import RTCPrimitives

/// The way to bring a picture upright, as containers, Exif and H.264 give it.
struct PictureOrientation: Hashable {
  /// Left and right are to be exchanged first.
  var isMirrored = false
  var rotation = VideoRotation.none

  init() {}

  /// Creates the orientation that the container gives.
  init(_ stream: StreamDescription) { (isMirrored, rotation) = (stream.isMirrored, stream.rotation) }

  /// Turns between quarters go to the nearest quarter.
  ///
  /// A matrix takes a point (x, y), y down, to (a x + c y, b x + d y), with a, b in its first row and c, d in its second.
  /// One that mirrors, whose determinant is negative, is an exchange of left and right, (−a, −b) in the place of (a, b),
  /// before a turn.
  init(displayMatrix matrix: UnsafePointer<Int32>) {
    var turn = Array(UnsafeBufferPointer(start: matrix, count: 9))
    let determinant = Double(turn[0]) * Double(turn[4]) - Double(turn[1]) * Double(turn[3])
    if determinant < 0 {
      isMirrored = true
      (turn[0], turn[1]) = (0 &- turn[0], 0 &- turn[1])
    }
    // FFmpeg says by how much it turns against the clock; we say clockwise.
    let degrees = -av_display_rotation_get(turn)
    guard degrees.isFinite else {
      self = PictureOrientation()
      return
    }
    let quarters = (Int((degrees / 90).rounded()) % 4 + 4) % 4
    rotation = [.none, .clockwise90, .half, .clockwise270][quarters]
  }
}
