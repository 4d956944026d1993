public import RTCPrimitives

/// The content of a video: the video-content-type header extension
/// (webrtc.org/experiments/rtp-hdrext/video-content-type). One byte; only its lowest bit has a meaning today.
public enum VideoContentType: UInt8, Hashable, Sendable, BitwiseCopyable {
  case unspecified = 0
  /// A screen: the viewer should prefer sharpness and low delay.
  case screenshare = 1

  /// The length of the element's data in bytes.
  public static let size = 1

  /// The data of a header extension element; nil unless they are one byte. Bits formerly used are ignored.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size else { return nil }
    self = data[0] & 1 == 1 ? .screenshare : .unspecified
  }

  /// Writes the element's data, one byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) { writer.write(rawValue) }
}
