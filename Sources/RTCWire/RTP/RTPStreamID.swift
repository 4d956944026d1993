public import RTCPrimitives

/// A name of at most 16 bytes as the mid, rid and repaired-rid header extensions carry it
/// (RFC 9143 §15.1, RFC 8852 §3): the bytes alone, their count is the element's length.
///
/// Kept inline, so that putting it on a packet allocates nothing.
public struct RTPStreamID: Hashable, Sendable, BitwiseCopyable {
  /// The longest name that fits the one-byte form of RFC 8285.
  public static let maximumCount = 16

  private var high: UInt64 = 0
  private var low: UInt64 = 0
  private var size: UInt8 = 0

  /// Nil unless `text` is 1…16 printable ASCII characters without a space.
  public init?(_ text: some StringProtocol) {
    self.init(bytes: text.utf8)
  }

  /// The data of a header extension element; nil unless they are 1…16 printable ASCII bytes without a space.
  public init?(parsing data: Span<UInt8>) {
    guard (1...Self.maximumCount).contains(data.count) else { return nil }
    for index in data.indices {
      guard append(data[index]) else { return nil }
    }
  }

  private init?(bytes: some Sequence<UInt8>) {
    for byte in bytes {
      guard append(byte) else { return nil }
    }
    guard size > 0 else { return nil }
  }

  /// The length in bytes, 1…16.
  public var count: Int { Int(size) }

  /// Writes the element's data, `count` bytes.
  @_lifetime(writer: copy writer)
  public func write(into writer: inout ByteWriter) {
    for index in 0..<count { writer.write(byte(index)) }
  }

  private func byte(_ index: Int) -> UInt8 {
    UInt8(truncatingIfNeeded: (index < 8 ? high : low) >> UInt64(56 - 8 * (index & 7)))
  }

  private mutating func append(_ byte: UInt8) -> Bool {
    guard count < Self.maximumCount, (0x21...0x7E).contains(byte) else { return false }
    let shifted = UInt64(byte) << UInt64(56 - 8 * (count & 7))
    if count < 8 { high |= shifted } else { low |= shifted }
    size += 1
    return true
  }
}

extension RTPStreamID: CustomStringConvertible {
  /// The name.
  public var description: String {
    String(decoding: (0..<count).map { byte($0) }, as: UTF8.self)
  }
}
