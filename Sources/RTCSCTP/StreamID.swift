/// A pair of SCTP streams of one number, one each way: what a data channel runs on.
public struct StreamID: Hashable, Sendable, BitwiseCopyable {
  public var value: UInt16
  @inlinable
  public init(_ value: UInt16) { self.value = value }
}
