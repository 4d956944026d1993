public import RTCPrimitives

/// The rotation of a picture for display: the coordination-of-video-orientation header extension (3GPP TS 26.114
/// §7.4.5).
///
/// ```
///  0 1 2 3 4 5 6 7
/// +-+-+-+-+-+-+-+-+
/// |0 0 0 0|C|F|R R|
/// +-+-+-+-+-+-+-+-+
/// ```
public struct VideoOrientation: Hashable, Sendable, BitwiseCopyable {
  /// The length of the element's data in bytes.
  public static let size = 1
  /// Neither rotated nor mirrored, and not from a camera on the back.
  public static let upright = VideoOrientation(rotation: .none)

  /// The clockwise turn the viewer makes before display.
  public var rotation: VideoRotation
  /// F: the viewer mirrors the picture horizontally.
  public var isFlipped: Bool
  /// C: the picture comes from a camera on the back of the device.
  public var isBackCamera: Bool

  /// An orientation of these three values.
  public init(rotation: VideoRotation, isFlipped: Bool = false, isBackCamera: Bool = false) {
    self.rotation = rotation
    self.isFlipped = isFlipped
    self.isBackCamera = isBackCamera
  }

  /// The data of a header extension element; nil unless they are one byte. The upper four bits are ignored.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size, let rotation = VideoRotation(rawValue: Int(data[0] & 3) * 90) else { return nil }
    self.init(rotation: rotation, isFlipped: data[0] & 4 != 0, isBackCamera: data[0] & 8 != 0)
  }

  /// Writes the element's data, one byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write((isBackCamera ? 8 : 0) | (isFlipped ? 4 : 0) | UInt8(rotation.rawValue / 90))
  }
}
