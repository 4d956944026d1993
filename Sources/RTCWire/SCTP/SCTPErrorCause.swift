public import RTCPrimitives

/// The cause in ERROR and ABORT (RFC 9260 §3.3.10). It is only written here, since received causes are not evaluated.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |           Cause Code          |         Cause Length          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                  Cause-Specific Information                   …
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public enum SCTPErrorCause: UInt16, Sendable {
  /// DATA on a stream beyond those agreed on; holds the stream and 16 reserved bits.
  case invalidStream = 1
  /// Holds the beginning of the chunk.
  case unrecognizedChunk = 6
  /// DATA without data; holds its TSN.
  case noUserData = 9
  /// The owner of the association ended it.
  case userInitiatedAbort = 12
  /// The peer broke a rule.
  case protocolViolation = 13

  /// The bytes `writeChunk` needs for so many bytes of information, in whole words.
  public static func chunkSize(information: Int) -> Int {
    SCTPChunk.headerSize + SCTPChunk.paddedSize(valueSize: information)
  }

  /// Writes a chunk, ERROR or ABORT, with this cause alone.
  @_lifetime(writer: copy writer)
  public func writeChunk(_ type: SCTPChunkType, information: Span<UInt8>, into writer: inout ByteWriter) {
    SCTPChunk.writeHeader(type, valueSize: 4 + information.count, into: &writer)
    writer.write(rawValue)
    writer.write(UInt16(4 + information.count))
    writer.write(information)
    writer.write(repeating: 0, count: -information.count & 3)
  }
}
