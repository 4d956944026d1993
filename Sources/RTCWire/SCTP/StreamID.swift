/// A pair of SCTP streams with the same number, one in each direction, which carries a data channel.
public struct StreamID: Hashable, Sendable, BitwiseCopyable {
  /// The streams' number, 0…65,534, as SCTP negotiates at most 65,535 streams.
  public var value: UInt16
  /// The streams with this number; nothing is checked.
  @inlinable
  public init(_ value: UInt16) { self.value = value }
}
