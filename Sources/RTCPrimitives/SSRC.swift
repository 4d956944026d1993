/// RTP synchronisation source (RFC 3550 §3).
public struct SSRC: Hashable, Sendable, BitwiseCopyable {
  public var value: UInt32
  @inlinable
  public init(_ value: UInt32) { self.value = value }
}
