public import RTCPrimitives

/// What a picture's samples mean, for codecs that cannot say so themselves: the color-space header extension
/// (webrtc.org/experiments/rtp-hdrext/color-space), in the form without HDR metadata. Read from the last packet of a key
/// frame; it holds until the next key frame.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |   primaries   |   transfer    |    matrix     |0 0|rng| h | v |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// Primaries, transfer and matrix are code points of ITU-T H.273; h and v say where chroma samples lie (0: unsaid).
public struct ColorSpaceDescription: Hashable, Sendable, BitwiseCopyable {
  public enum Range: UInt8, Hashable, Sendable, BitwiseCopyable {
    case unsaid = 0
    case limited = 1
    case full = 2
    /// As transfer and matrix imply.
    case derived = 3
  }

  public static let size = 4
  public static let bt709Limited = ColorSpaceDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited)
  /// With the transfer of sRGB, as Chromium describes a canvas.
  public static let bt709Full = ColorSpaceDescription(primaries: 1, transfer: 13, matrix: 1, range: .full)
  public static let bt601Limited = ColorSpaceDescription(primaries: 6, transfer: 6, matrix: 6, range: .limited)

  public var primaries: UInt8
  public var transfer: UInt8
  public var matrix: UInt8
  public var range: Range
  /// h and v, 0…15.
  private var chromaSiting: UInt8 = 0

  public init(primaries: UInt8, transfer: UInt8, matrix: UInt8, range: Range) {
    self.primaries = primaries
    self.transfer = transfer
    self.matrix = matrix
    self.range = range
  }

  /// The data of a header extension element; nil unless they are four bytes, or the 28 of the form with HDR metadata,
  /// which are passed over.
  public init?(parsing data: Span<UInt8>) {
    guard data.count == Self.size || data.count == 28, let range = Range(rawValue: data[3] >> 4 & 3) else { return nil }
    self.init(primaries: data[0], transfer: data[1], matrix: data[2], range: range)
    chromaSiting = data[3] & 0x0F
  }

  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(primaries)
    writer.write(transfer)
    writer.write(matrix)
    writer.write(range.rawValue << 4 | chromaSiting)
  }
}
