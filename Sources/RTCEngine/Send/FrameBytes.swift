package import RTCMedia
import RTCWire

/// The bytes of one encoded frame, shared by all viewers and kept as long as one of them may need a packet again.
package struct FrameBytes: Sendable {
  let data: [UInt8]
  let isKeyFrame: Bool
  /// Nil when the picture stands upright: then nothing is said of it.
  let orientation: VideoOrientation?
  let isScreenshare: Bool
  /// On key frames whose maker says it: receivers keep it until the next.
  let colorSpace: ColorSpaceDescription?

  package init(_ frame: EncodedFrame) {
    data = frame.data
    isKeyFrame = frame.isKeyFrame
    isScreenshare = frame.contentHint != .motion
    orientation = frame.rotation == .none ? nil : VideoOrientation(rotation: frame.rotation)
    colorSpace = frame.isKeyFrame ? frame.colorSpace.flatMap { ColorSpaceDescription($0) } : nil
  }
}

extension ColorSpaceDescription {
  /// Nil for red, green and blue themselves, which no codec here carries.
  init?(_ space: ColorSpace) {
    switch (space.matrix, space.range) {
    case (.bt601, .limited): self = .bt601Limited
    case (.bt601, .full): self.init(primaries: 6, transfer: 6, matrix: 6, range: .full)
    case (.bt709, .limited): self = .bt709Limited
    case (.bt709, .full): self = .bt709Full
    case (.rgb, _): return nil
    }
  }
}
