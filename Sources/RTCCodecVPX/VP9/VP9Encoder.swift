package import RTCMedia
package import RTCVideoCoding

/// VP9 by libvpx, made for screens, in profile 0 (4:2:0) and 1 (4:4:4).
package typealias VP9Encoder = BlockEncoder<VP9Context>

extension BlockEncoder where Coder == VP9Context {
  /// The name and version of the library, such as `libvpx v1.12.0`.
  package static var library: String { VP8Encoder.library }
}

/// The properties of libvpx's VP9 that `BlockEncoder` needs.
extension VP9Context {
  /// The codec, always VP9.
  package static let codec = VideoCodec.vp9
  /// The range of quantisers. 0, lossless, is left out.
  package static let scale = 1...63
  /// The side of a superblock of 64×64 pixels, in blocks.
  package static let group = 4
  /// The number of blocks that one refinement may code: some 20 ms of work at 1080p.
  package static let refinementPass = 900
  /// VP9 has temporal layers.
  package static let hasLayers = true

  /// The quantisers by content hint. Pages of text have these dB of luma, by quantiser: 6: 50.7, 8: 48.8, 20: 42, 30: 37,
  /// 40: 31.5, 50: 26. Red, green and blue in 4:4:4 are 5 dB less.
  package static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals {
    let goals =
      switch settings.contentHint {
      case .detail: QuantizerGoals(6, perfect: 3, moving: 20, readable: 30, legible: 39, coarsest: 50, first: 63)
      case .text: QuantizerGoals(5, perfect: 3, moving: 16, readable: 26, legible: 37, coarsest: 46, first: 63)
      case .motion: QuantizerGoals(14, perfect: nil, moving: 20, readable: 36, legible: 46, coarsest: 63, first: 63)
      }
    return goals.limited(to: settings.quantizerRange, of: scale)
  }

  /// The cost of new content, relative to quantiser 8; measured on a page of dark text in 4:2:0, and of coloured text in
  /// 4:4:4.
  package static func costs(_ chroma: ChromaSampling) -> CostTable {
    let curve: [(quantizer: Int, cost: Double)] =
      switch chroma {
      case .full:
        [
          (0, 1.59), (2, 1.34), (4, 1.19), (6, 1.08), (8, 1), (12, 0.88), (20, 0.72), (30, 0.53), (40, 0.333),
          (50, 0.178), (56, 0.11), (60, 0.07), (63, 0.039),
        ]
      case .quarter:
        [
          (0, 1.41), (2, 1.25), (4, 1.14), (6, 1.06), (8, 1), (12, 0.91), (20, 0.79), (30, 0.656), (40, 0.484),
          (50, 0.308), (56, 0.21), (60, 0.147), (63, 0.091),
        ]
      }
    return CostTable(curve: curve, usual: 180)
  }

  /// The size itself, as VP9 codes any size.
  package static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize { size }
}
