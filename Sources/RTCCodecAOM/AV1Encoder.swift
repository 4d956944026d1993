import CAOM
package import RTCVideoCoding
package import RTCMedia

/// AV1 by libaom, made for screens: main profile, and high profile (4:4:4) where the settings ask for full chroma.
package typealias AV1Encoder = BlockEncoder<AV1Context>

extension BlockEncoder where Coder == AV1Context {
  /// The name and version of the library, such as `libaom 3.6.0`.
  package static var library: String { "libaom " + (unsafe String(cString: aom_codec_version_str())) }
}

/// The properties of libaom that `BlockEncoder` needs.
extension AV1Context {
  /// The codec, always AV1.
  package static let codec = VideoCodec.av1
  /// The range of quantisers. 0, lossless, is left out.
  package static let scale = 1...63
  /// The side of a superblock of 64×64 pixels, in blocks.
  package static let group = 4
  /// The number of blocks that one refinement may code; a block takes 25–40 µs.
  package static let refinementPass = 800

  /// The quantisers by content hint. The finest has 49 dB of luma on text and, in 4:4:4, 44 dB of red, green and blue.
  /// Letters can be read without effort at 39 dB, and can be read at 31 dB.
  package static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals {
    let isFull = settings.chroma == .full
    func still(_ finest: Int, moving: Int, readable: Int, coarsest: Int) -> QuantizerGoals {
      QuantizerGoals(
        finest, perfect: max(1, finest - 3), moving: moving, readable: readable, legible: 46, coarsest: coarsest,
        first: 63)
    }
    let goals =
      switch settings.contentHint {
      case .detail: still(isFull ? 4 : 6, moving: 20, readable: 30, coarsest: 56)
      case .text: still(isFull ? 3 : 5, moving: 16, readable: 26, coarsest: 54)
      case .motion:
        QuantizerGoals(16, perfect: nil, moving: 20, readable: 36, legible: 46, coarsest: 63, first: 63)
      }
    return goals.limited(to: settings.quantizerRange, of: scale)
  }

  /// The cost of new content, relative to quantiser 10; measured on a page of coloured text.
  package static func costs(_ chroma: ChromaSampling) -> CostTable {
    CostTable(
      curve: [
        (0, 2.1), (4, 1.4), (10, 1), (20, 0.74), (30, 0.555), (40, 0.386), (48, 0.28), (56, 0.2), (60, 0.1), (63, 0.04),
      ], usual: chroma == .full ? 260 : 130)
  }

  /// The size itself, as AV1 codes any size.
  package static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize { size }
}
