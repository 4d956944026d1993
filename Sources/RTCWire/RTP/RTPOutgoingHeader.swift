public import RTCPrimitives

/// The header of an RTP packet to be sent (RFC 3550 §5.1; diagram at `RTPHeader`), extensions included (RFC 8285).
/// Trivial to copy; writing allocates nothing, so it serves the per-packet path.
///
/// The block is in the one-byte form, or in the two-byte form when the map holds an identifier over 14.
public struct RTPOutgoingHeader: Sendable, BitwiseCopyable {
  /// M: its meaning is the payload format's; for video, the last packet of a frame.
  public var marker: Bool
  /// PT: the payload's format, 0…127.
  public var payloadType: PayloadType
  /// The packet's number in its stream.
  public var sequenceNumber: SequenceNumber
  /// When the payload was sampled, in units of the payload's clock rate.
  public var timestamp: RTPTimestamp
  /// The stream that the packet belongs to.
  public var ssrc: SSRC
  /// The header extensions to write, as far as they are negotiated.
  public var extensions: RTPOutgoingExtensions

  /// A header without contributing sources.
  public init(
    payloadType: PayloadType, sequenceNumber: SequenceNumber, timestamp: RTPTimestamp, ssrc: SSRC,
    marker: Bool = false, extensions: RTPOutgoingExtensions = RTPOutgoingExtensions()
  ) {
    self.marker = marker
    self.payloadType = payloadType
    self.sequenceNumber = sequenceNumber
    self.timestamp = timestamp
    self.ssrc = ssrc
    self.extensions = extensions
  }

  /// The exact length `write` will take, in bytes.
  public func size(map: borrowing RTPHeaderExtensionMap) -> Int {
    let elements = extensions.elementsSize(map: map)
    return RTPHeader.fixedSize + (elements == 0 ? 0 : 4 + Self.roundedToWord(elements))
  }

  /// Writes the header at the writer's place; the payload follows.
  /// - Returns: where the fields lie that are patched just before sending, counted from the packet's first byte.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter, map: borrowing RTPHeaderExtensionMap) -> RTPLateFields {
    let start = writer.offset
    let elements = extensions.elementsSize(map: map)
    writer.write(0x80 | (elements > 0 ? 0x10 : 0) as UInt8)
    writer.write((marker ? 0x80 : 0) | payloadType.value)
    writer.write(sequenceNumber.value)
    writer.write(timestamp.value)
    writer.write(ssrc.value)
    guard elements > 0 else { return RTPLateFields() }
    let padded = Self.roundedToWord(elements)
    typealias Form = RTPHeaderExtensionElements
    writer.write(map.needsTwoByteForm ? Form.twoByteProfile : Form.oneByteProfile)
    writer.write(UInt16(padded / 4))
    let late = extensions.writeElements(into: &writer, map: map, packetStart: start)
    writer.write(repeating: 0, count: padded - elements)
    return late
  }

  private static func roundedToWord(_ size: Int) -> Int { (size + 3) & ~3 }
}
