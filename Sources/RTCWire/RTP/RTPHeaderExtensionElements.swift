/// One header extension: its negotiated identifier and where its data lie in the packet.
public struct RTPHeaderExtensionElement: Hashable, Sendable {
  /// 1…14 in the one-byte form, 1…255 in the two-byte form.
  public var id: UInt8
  /// The position of the element's data in the packet, without identifier and length.
  public var range: Range<Int>
}

/// Walks the elements of an RTP header extension block (RFC 8285 §4.2 and §4.3) without allocating.
///
/// ```
///  one-byte form, profile 0xBEDE         two-byte form, profile 0x100?
///  0 1 2 3 4 5 6 7                       0                   1
/// +-+-+-+-+-+-+-+-+                      0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5
/// |  ID   | len−1 |  data …             +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// +-+-+-+-+-+-+-+-+                     |       ID      |     length    |  data …
///                                       +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
/// ```
///
/// Zero bytes between elements are padding. An element that runs past the block ends the walk, and so do the
/// reserved identifier 15 and a padding byte with a length in the one-byte form, as §4.2 asks.
public struct RTPHeaderExtensionElements: ~Escapable {
  static let oneByteProfile: UInt16 = 0xBEDE
  static let twoByteProfile: UInt16 = 0x1000

  private let packet: Span<UInt8>
  private let twoByteForm: Bool
  private var offset: Int
  private var end: Int

  /// - Parameters:
  ///   - packet: the whole packet.
  ///   - block: where the elements lie in it; must lie within.
  ///   - profile: the block's "defined by profile" field. A block of another profile has no elements.
  @_lifetime(copy packet)
  public init(in packet: Span<UInt8>, block: Range<Int>, profile: UInt16) {
    precondition(block.upperBound <= packet.count || block.isEmpty, "the extension block lies outside the packet")
    self.packet = packet
    twoByteForm = profile & 0xFFF0 == Self.twoByteProfile
    offset = block.lowerBound
    end = twoByteForm || profile == Self.oneByteProfile ? block.upperBound : block.lowerBound
  }

  /// The next element, or nil at the end.
  @_lifetime(self: copy self)
  public mutating func next() -> RTPHeaderExtensionElement? {
    while offset < end, packet[offset] == 0 { offset += 1 }
    guard offset < end else { return nil }
    return twoByteForm ? nextOfTwoByteForm() : nextOfOneByteForm()
  }

  @_lifetime(self: copy self)
  private mutating func nextOfOneByteForm() -> RTPHeaderExtensionElement? {
    let id = packet[offset] >> 4
    let start = offset + 1
    let size = Int(packet[offset] & 0x0F) + 1
    guard id != 0, id != 15 else { return stop() }
    return element(id: id, start: start, size: size)
  }

  @_lifetime(self: copy self)
  private mutating func nextOfTwoByteForm() -> RTPHeaderExtensionElement? {
    guard offset + 1 < end else { return stop() }
    return element(id: packet[offset], start: offset + 2, size: Int(packet[offset + 1]))
  }

  @_lifetime(self: copy self)
  private mutating func element(id: UInt8, start: Int, size: Int) -> RTPHeaderExtensionElement? {
    guard size <= end - start else { return stop() }
    offset = start + size
    return RTPHeaderExtensionElement(id: id, range: start..<offset)
  }

  @_lifetime(self: copy self)
  private mutating func stop() -> RTPHeaderExtensionElement? {
    offset = end
    return nil
  }
}
