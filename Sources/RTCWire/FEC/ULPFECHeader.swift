public import RTCPrimitives

/// The header before the repair data of an ULPFEC packet with one level of protection (RFC 5109 §7.3, §7.4).
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |E|L|P|X|  CC   |M| PT recovery |            SN base            |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          TS recovery                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |        length recovery        |       protection length       |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |             mask              |   mask, continued (if L) …    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
public struct ULPFECHeader: Hashable, Sendable, BitwiseCopyable {
  /// The lengths that a header can have, for masks of up to 16 and 48 packets.
  public static let sizes = (short: 14, long: 18)
  /// The most packets from the base to the last one protected.
  public static let maximumSpan = 48

  /// The exclusive or of the protected packets' header fields.
  public var fields: FECRecoveryFields
  /// The base of the mask.
  public var base: SequenceNumber
  /// The packets that are protected, within `maximumSpan`.
  public let mask: FECMask
  /// How many bytes behind their first 12 are protected of each packet.
  public var protectionLength: UInt16
  /// Bytes before the repair data.
  public let size: Int

  /// A header of these fields.
  public init(fields: FECRecoveryFields, base: SequenceNumber, mask: FECMask, protectionLength: UInt16) {
    precondition(mask.span <= Self.maximumSpan, "ULPFECHeader: the mask is too long")
    self.fields = fields
    self.base = base
    self.mask = mask
    self.protectionLength = protectionLength
    size = mask.span <= 16 ? Self.sizes.short : Self.sizes.long
  }

  /// Reads the headers of the packet and of its first level. Nil when they are cut short or claim more bytes than follow, have
  /// an extension (E), or protect nothing.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count >= Self.sizes.short, payload[0] & 0x80 == 0 else { return nil }
    let isLong = payload[0] & 0x40 != 0
    size = isLong ? Self.sizes.long : Self.sizes.short
    guard payload.count >= size else { return nil }
    fields = FECRecoveryFields()
    fields.flags = payload[0] & 0x3F
    fields.markerAndType = payload[1]
    base = SequenceNumber(payload.networkOrder16(at: 2))
    fields.timestamp = payload.networkOrder32(at: 4)
    fields.length = payload.networkOrder16(at: 8)
    protectionLength = payload.networkOrder16(at: 10)
    var mask = FECMask()
    mask.insert(UInt64(payload.networkOrder16(at: 12)), at: 0, count: 16)
    if isLong { mask.insert(UInt64(payload.networkOrder32(at: 14)), at: 16, count: 32) }
    self.mask = mask
    guard !mask.isEmpty, Int(protectionLength) <= payload.count - size else { return nil }
  }

  /// Writes both headers, `size` bytes; the repair data follows, `protectionLength` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(fields.flags & 0x3F | (size == Self.sizes.long ? 0x40 : 0))
    writer.write(fields.markerAndType)
    writer.write(base.value)
    writer.write(fields.timestamp)
    writer.write(fields.length)
    writer.write(protectionLength)
    writer.write(UInt16(mask.field(0, 16)))
    if size == Self.sizes.long { writer.write(UInt32(mask.field(16, 32))) }
  }
}
