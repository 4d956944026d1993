package import RTCPrimitives

/// Which pictures are wanted of a decoder.
package struct PictureWish: Hashable, Sendable {
  /// Pictures that are over by then are not shown.
  package var floor: TimeDelta
  /// Pictures come no faster than this; nil: as fast as they are.
  package var interval: TimeDelta?
  /// There is more to decode than time.
  package var isLate: Bool

  package init(floor: TimeDelta, interval: TimeDelta?, isLate: Bool) {
    (self.floor, self.interval, self.isLate) = (floor, interval, isLate)
  }
}
