/// RTP synchronisation source (RFC 3550 §3).
public struct SSRC: Hashable, Sendable, BitwiseCopyable {
  /// The 32 bits on the wire.
  public var value: UInt32
  /// The source with this number.
  @inlinable
  public init(_ value: UInt32) { self.value = value }
}
