public import RTCPrimitives

/// Source description: one source and its canonical name (RFC 3550 §6.5). Other items are passed over on parsing.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |V=2|P|    SC   |  PT=SDES=202  |             length            |
/// +=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+=+
/// |                          SSRC/CSRC                            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |    CNAME=1    |     length    | name …       0, padded to word|
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct SourceDescription: Hashable, Sendable {
  /// The source that the name belongs to.
  public var source: SSRC
  /// At most 255 bytes of UTF-8.
  public let canonicalName: String

  private static let canonicalNameItem: UInt8 = 1

  /// Names over 255 bytes are a programming error.
  public init(source: SSRC, canonicalName: String) {
    precondition(canonicalName.utf8.count <= 255, "a canonical name has at most 255 bytes")
    self.source = source
    self.canonicalName = canonicalName
  }

  /// The first canonical name in `packet`; nil when there is none, or the packet is malformed up to there.
  public init?(parsing packet: RTCPPacket) {
    guard packet.kind == .sourceDescription else { return nil }
    let body = packet.body
    var offset = 0
    for _ in 0..<packet.count {
      guard body.count - offset >= 4 else { return nil }
      let source = SSRC(body.networkOrder32(at: offset))
      offset += 4
      while offset < body.count, body[offset] != 0 {
        guard body.count - offset >= 2 else { return nil }
        let (item, size) = (body[offset], Int(body[offset + 1]))
        offset += 2
        guard size <= body.count - offset else { return nil }
        if item == Self.canonicalNameItem {
          let bytes = body.extracting(offset..<offset + size)
          self.source = source
          canonicalName = Self.text(bytes)
          return
        }
        offset += size
      }
      offset = (offset + 4) & ~3  // the closing zero and the padding to a word
    }
    return nil
  }

  /// The whole packet's length.
  public var size: Int { RTCPPacket.headerSize + bodySize }

  /// Writes the whole packet, `size` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.writeRTCPHeader(type: RTCPPacket.TypeCode.sourceDescription, count: 1, bodySize: bodySize)
    let name = canonicalName.utf8
    writer.write(source.value)
    writer.write(Self.canonicalNameItem)
    writer.write(UInt8(name.count))
    for byte in name { writer.write(byte) }
    writer.write(repeating: 0, count: bodySize - 6 - name.count)
  }

  private var bodySize: Int { (6 + canonicalName.utf8.count + 4) & ~3 }

  /// The text of `bytes`, with anything that is not UTF-8 repaired: at most 255 bytes even so.
  private static func text(_ bytes: Span<UInt8>) -> String {
    var text = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    while text.utf8.count > 255 { text.unicodeScalars.removeLast() }
    return text
  }
}
