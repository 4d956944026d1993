package import RTCMedia

/// One way a camera can deliver pictures.
package struct CameraMode: Hashable, Sendable {
  /// The codes that are understood, cheapest first: H.264 is sent as it is to viewers who take it.
  package enum Encoding: UInt32, CaseIterable, Sendable {
    case nv12 = 0x3231_564e
    case i420 = 0x3231_5559
    case yuyv = 0x5659_5559
    case h264 = 0x3436_3248
    case jpeg = 0x4745_504a
    case motionJPEG = 0x4750_4a4d

    /// The pixel format after decoding.
    package var pixelFormat: PixelFormat {
      switch self {
      case .nv12: .nv12
      case .i420, .yuyv, .h264: .i420
      case .jpeg, .motionJPEG: .bgra
      }
    }

    /// Bytes in the shortest row of a picture that is so wide, and how many times the bytes of its rows the picture takes, in
    /// halves; nil for compressed pictures.
    func layout(width: Int) -> (rowBytes: Int, halves: Int)? {
      switch self {
      case .nv12, .i420: (width, 3)
      case .yuyv: (2 * width, 2)
      case .jpeg, .motionJPEG, .h264: nil
      }
    }
  }

  package var encoding: Encoding
  package var size: PixelSize
  /// The most pictures a second; 0 when the camera does not say.
  package var rate: Double

  package init(encoding: Encoding, size: PixelSize, rate: Double) {
    (self.encoding, self.size, self.rate) = (encoding, size, rate)
  }

  /// The mode for a request: nearest in size, then fast enough or fastest, then cheapest to take. Nil of none.
  /// - Parameter prefersH264: H.264 counts as the cheapest when true, as the dearest when false; nil: in its place.
  package static func best(
    of modes: [CameraMode], size: PixelSize, rate: Double, prefersH264: Bool? = nil
  ) -> CameraMode? {
    ranked(modes, size: size, rate: rate, prefersH264: prefersH264).first
  }

  /// All modes, the best for a request first; see `best`.
  package static func ranked(
    _ modes: [CameraMode], size: PixelSize, rate: Double, prefersH264: Bool? = nil
  ) -> [CameraMode] {
    modes.sorted { $0.distance(size, rate, prefersH264) < $1.distance(size, rate, prefersH264) }
  }

  private func distance(_ wanted: PixelSize, _ wantedRate: Double, _ prefersH264: Bool?) -> (Int, Double, Int) {
    let area = abs(size.width - wanted.width) + abs(size.height - wanted.height)
    // Unknown counts as the common thirty; a hundredth too slow (29.97) does not count.
    let lack = max(0, wantedRate * 0.99 - (rate > 0 ? rate : 30))
    var cost = Encoding.allCases.firstIndex(of: encoding)!
    if encoding == .h264, let prefersH264 { cost = prefersH264 ? -1 : Encoding.allCases.count }
    return (area, lack, cost)
  }

  /// The size that a camera with sizes in steps comes nearest to `wanted` with.
  package static func nearest(
    to wanted: PixelSize, smallest: PixelSize, largest: PixelSize, step: PixelSize
  ) -> PixelSize {
    func nearest(_ wanted: Int, _ low: Int, _ high: Int, _ step: Int) -> Int {
      let step = max(1, step)
      guard low < high else { return high }
      let steps = (min(max(wanted, low), high) - low) / step
      return low + steps * step
    }
    return PixelSize(
      width: nearest(wanted.width, smallest.width, largest.width, step.width),
      height: nearest(wanted.height, smallest.height, largest.height, step.height))
  }
}
