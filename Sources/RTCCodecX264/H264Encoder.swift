// libx264 is under the GPL. Without the package's trait X264 nothing here is compiled, and nothing of it linked.
#if X264
  import CX264
  package import RTCVideoCoding
  package import RTCMedia

  /// H.264 by x264, made for screens: constrained baseline profile, and High 4:4:4 Predictive where the settings ask for full
  /// chroma.
  package typealias H264Encoder = BlockEncoder<X264Context>

  extension BlockEncoder where Coder == X264Context {
    /// The name and version of the library, such as `libx264 0.164.3095 baee400`.
    package static var library: String { "libx264 " + X264_POINTVER }
  }

  /// The properties of libx264 that `BlockEncoder` needs.
  extension X264Context {
    /// The codec, always H.264.
    package static let codec = VideoCodec.h264
    /// The range of quantisers. 0 is left out: it is lossless in High 4:4:4 Predictive alone.
    package static let scale = 1...51
    /// The side of a group: macroblocks are coded by themselves.
    package static let group = 1
    /// The number of macroblocks that one refinement may code; a macroblock takes about 10 µs.
    package static let refinementPass = 2400

    /// The quantisers by content hint. The finest has 49 dB of luma on text and, in 4:4:4, 44 dB of red, green and
    /// blue. Letters can be read without effort at 38 dB, and can be read at 31 dB.
    package static func goals(_ settings: VideoEncoderSettings) -> QuantizerGoals {
      let isFull = settings.chroma == .full
      func still(_ finest: Int, moving: Int, readable: Int, coarsest: Int) -> QuantizerGoals {
        QuantizerGoals(
          finest, perfect: finest - 3, moving: moving, readable: readable, legible: 33, coarsest: coarsest, first: 51)
      }
      let goals =
        switch settings.contentHint {
        case .detail: still(isFull ? 14 : 15, moving: 22, readable: 26, coarsest: 42)
        case .text: still(isFull ? 13 : 14, moving: 20, readable: 24, coarsest: 40)
        case .motion:
          QuantizerGoals(20, perfect: nil, moving: 24, readable: 32, legible: 33, coarsest: 48, first: 51)
        }
      return goals.limited(to: settings.quantizerRange, of: scale)
    }

    /// The cost of new content, relative to quantiser 10; measured on a page of coloured text.
    package static func costs(_ chroma: ChromaSampling) -> CostTable {
      CostTable(
        curve: [
          (0, 1.4), (8, 1.075), (10, 1), (12, 0.92), (16, 0.786), (20, 0.653), (24, 0.527), (28, 0.417), (32, 0.32),
          (36, 0.231), (40, 0.163), (44, 0.11), (48, 0.061), (51, 0.041),
        ], usual: chroma == .full ? 560 : 380)
    }

    /// The size with one pixel more on odd sides in 4:2:0, whose cropping goes by two pixels.
    package static func codedSize(_ size: PixelSize, _ chroma: ChromaSampling) -> PixelSize {
      guard chroma == .quarter else { return size }
      return PixelSize(width: (size.width + 1) / 2 * 2, height: (size.height + 1) / 2 * 2)
    }
  }
#endif
