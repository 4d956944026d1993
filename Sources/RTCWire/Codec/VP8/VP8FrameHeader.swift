public import RTCPrimitives

/// The header of a VP8 frame, parsed without decoding it (RFC 6386 §9.1).
///
/// ```
///  frame tag, little-endian 24 bits:     first partition size (19) | show (1) | version (3) | not key (1)
///  key frames add:                       9D 01 2A
///                                        horizontal scale (2) | width (14), little-endian
///                                        vertical scale (2) | height (14), little-endian
/// ```
public struct VP8FrameHeader: Hashable, Sendable, BitwiseCopyable {
  /// The picture's size on a key frame, before the scaling a decoder may apply; nil on any other.
  public let keyFrameSize: PixelSize?
  /// False for a frame that only updates references.
  public let isShown: Bool
  /// Bytes of the first partition.
  public let firstPartitionSize: Int

  /// True when the frame needs no other.
  public var isKeyFrame: Bool { keyFrameSize != nil }

  /// Nil when the frame is too short, or is a key frame without its start code.
  public init?(parsing frame: Span<UInt8>) {
    guard frame.count >= 3 else { return nil }
    let tag = UInt32(frame[0]) | UInt32(frame[1]) << 8 | UInt32(frame[2]) << 16
    isShown = tag & 0x10 != 0
    firstPartitionSize = Int(tag >> 5)
    guard tag & 1 == 0 else {
      keyFrameSize = nil
      return
    }
    guard frame.count >= 10, frame[3] == 0x9D, frame[4] == 0x01, frame[5] == 0x2A else { return nil }
    keyFrameSize = PixelSize(
      width: Int(frame[6]) | Int(frame[7] & 0x3F) << 8, height: Int(frame[8]) | Int(frame[9] & 0x3F) << 8)
  }
}
