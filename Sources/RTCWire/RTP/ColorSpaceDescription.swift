public import RTCPrimitives

/// The colour space of a picture's samples, for codecs without such a field: the color-space header extension
/// (webrtc.org/experiments/rtp-hdrext/color-space), in the form without HDR metadata. It is read from the last packet
/// of a key frame and applies until the next key frame.
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
  /// The range of sample values.
  public enum Range: UInt8, Hashable, Sendable, BitwiseCopyable {
    case unsaid = 0
    case limited = 1
    case full = 2
    /// As transfer and matrix imply.
    case derived = 3
  }

  /// The length of the element's data in bytes, without HDR metadata.
  public static let size = 4
  /// ITU-R BT.709 in limited range.
  public static let bt709Limited = ColorSpaceDescription(primaries: 1, transfer: 1, matrix: 1, range: .limited)
  /// With the transfer of sRGB, as Chromium describes a canvas.
  public static let bt709Full = ColorSpaceDescription(primaries: 1, transfer: 13, matrix: 1, range: .full)
  /// ITU-R BT.601 with 525 lines (SMPTE 170M) in limited range.
  public static let bt601Limited = ColorSpaceDescription(primaries: 6, transfer: 6, matrix: 6, range: .limited)

  /// `ColourPrimaries` (ITU-T H.273 §8.1); 1 = BT.709.
  public var primaries: UInt8
  /// `TransferCharacteristics` (ITU-T H.273 §8.2); 1 = BT.709, 13 = sRGB.
  public var transfer: UInt8
  /// `MatrixCoefficients` (ITU-T H.273 §8.3); 1 = BT.709.
  public var matrix: UInt8
  /// The range of sample values.
  public var range: Range
  /// h and v, 0…15.
  private var chromaSiting: UInt8 = 0

  /// A description that says nothing of where chroma samples lie.
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

  /// Writes the element's data, four bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(primaries)
    writer.write(transfer)
    writer.write(matrix)
    writer.write(range.rawValue << 4 | chromaSiting)
  }
}
