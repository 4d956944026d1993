/// The two ends of a datagram's way: which local address it leaves from (or came to), and the remote one.
public struct Route: Hashable, Sendable, BitwiseCopyable {
  public var local: SocketAddress
  public var remote: SocketAddress

  @inlinable
  public init(local: SocketAddress, remote: SocketAddress) {
    self.local = local
    self.remote = remote
  }
}
