public import RTCPrimitives

/// The header before the payload of a FlexFEC repair packet (draft-ietf-payload-flexible-fec-scheme-03 §4.2.2.1), in
/// libwebrtc's version: one protected stream and a flexible mask. RFC 8627 defines another format.
///
/// ```
///  0                   1                   2                   3
///  0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |R|F|P|X|  CC   |M| PT recovery |        length recovery        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                          TS recovery                          |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |  SSRC count   |                   reserved                    |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |                             SSRC                              |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |            SN base            |k|         mask 0…14           |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |k|                   mask 15…45 (if k was 0)                   |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// |k|            mask 46…108 (if k was 0 again), 64 bits …        |
/// +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// A k of 1 ends the mask. Behind the header stands the exclusive or of what the protected packets have behind their
/// first 12 bytes, each filled up with zeros.
public struct FlexFECHeader: Hashable, Sendable, BitwiseCopyable {
  /// The lengths that a header can have, for masks of up to 15, 46 and 109 packets.
  public static let sizes = (short: 20, medium: 24, long: 32)
  /// The most packets from the base to the last one protected.
  public static let maximumSpan = 109

  /// The exclusive or of the protected packets' header fields.
  public var fields: FECRecoveryFields
  /// The stream whose packets are protected.
  public var ssrc: SSRC
  /// The base of the mask.
  public var base: SequenceNumber
  /// The packets that are protected, within `maximumSpan`.
  public let mask: FECMask
  /// Bytes before the repair data.
  public let size: Int

  /// A header of these fields.
  public init(fields: FECRecoveryFields, ssrc: SSRC, base: SequenceNumber, mask: FECMask) {
    precondition(mask.span <= Self.maximumSpan, "FlexFECHeader: the mask is too long")
    self.fields = fields
    self.ssrc = ssrc
    self.base = base
    self.mask = mask
    switch mask.span {
    case ...15: size = Self.sizes.short
    case ...46: size = Self.sizes.medium
    default: size = Self.sizes.long
    }
  }

  /// Reads the header at the start of a repair packet's payload. Nil when it is cut short, repeats a packet (R), has a
  /// fixed mask (F), protects several streams, or its mask does not end or is empty.
  public init?(parsing payload: Span<UInt8>) {
    guard payload.count >= Self.sizes.short, payload[0] & 0xC0 == 0, payload[8] == 1 else { return nil }
    fields = FECRecoveryFields()
    fields.flags = payload[0]
    fields.markerAndType = payload[1]
    fields.length = payload.networkOrder16(at: 2)
    fields.timestamp = payload.networkOrder32(at: 4)
    ssrc = SSRC(payload.networkOrder32(at: 12))
    base = SequenceNumber(payload.networkOrder16(at: 16))
    var mask = FECMask()
    // A mask may be longer than necessary; the repair data begin where it ends.
    guard let size = mask.readFlexFEC(payload), !mask.isEmpty else { return nil }
    self.mask = mask
    self.size = size
  }

  /// Writes the header, `size` bytes; the repair data follows.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    writer.write(fields.flags & 0x3F)
    writer.write(fields.markerAndType)
    writer.write(fields.length)
    writer.write(fields.timestamp)
    writer.write(0x0100_0000 as UInt32)
    writer.write(ssrc.value)
    writer.write(base.value)
    let span = mask.span
    writer.write(UInt16(mask.field(0, 15)) | (span <= 15 ? 0x8000 : 0))
    guard span > 15 else { return }
    writer.write(UInt32(mask.field(15, 31)) | (span <= 46 ? 0x8000_0000 : 0))
    guard span > 46 else { return }
    writer.write(mask.field(46, 63) | 1 << 63)
  }
}

extension FECMask {
  /// Reads the parts of a mask with their k bits, from byte 18 of a FlexFEC header on.
  /// - Returns: where the header ends; nil when it is cut short or has no end.
  fileprivate mutating func readFlexFEC(_ payload: Span<UInt8>) -> Int? {
    let sizes = FlexFECHeader.sizes
    let first = payload.networkOrder16(at: 18)
    insert(UInt64(first), at: 0, count: 15)
    if first & 0x8000 != 0 { return sizes.short }
    guard payload.count >= sizes.medium else { return nil }
    let second = payload.networkOrder32(at: sizes.short)
    insert(UInt64(second), at: 15, count: 31)
    if second & 0x8000_0000 != 0 { return sizes.medium }
    guard payload.count >= sizes.long else { return nil }
    let third = payload.networkOrder64(at: sizes.medium)
    guard third >> 63 == 1 else { return nil }
    insert(third, at: 46, count: 63)
    return sizes.long
  }
}
