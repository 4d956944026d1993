package import RTCMedia
import RTCWire

/// The bytes of one encoded frame, shared by all viewers and kept as long as any of them may need a packet again.
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
    colorSpace =
      switch frame.colorSpace {
      case .bt601Limited where frame.isKeyFrame: .bt601Limited
      case .bt709Limited where frame.isKeyFrame: .bt709Limited
      case .bt709Full where frame.isKeyFrame: .bt709Full
      default: nil
      }
  }
}
